//! A policy as an ONNX model, for any runtime that reads the format.

use prost::Message;

use crate::Error;
use crate::policy::{Activation, FilterParameters, LayerParameters, PolicySpec, Squash};

/// The policy as the bytes of an ONNX model with one input, `observation` (batch x observation size), and one
/// output, `action` (batch x action size), both in single precision.
///
/// Toeplitz matrices are written out in full. A runtime adds in its own order, so actions agree with
/// [`Policy::act`](crate::policy::Policy::act) to single precision, not bit for bit.
///
/// ```
/// use autoqd::export::policy_to_onnx;
/// use autoqd::policy::{PolicySpec, Weights};
/// let spec = PolicySpec::new(Weights::Toeplitz, vec![8], 3, vec![-1.0], vec![1.0])?;
/// let model = policy_to_onnx(&spec, &vec![0.1; spec.parameter_count()])?;
/// assert!(!model.is_empty());
/// # Ok::<(), autoqd::Error>(())
/// ```
pub fn policy_to_onnx(spec: &PolicySpec, parameters: &[f64]) -> Result<Vec<u8>, Error> {
    spec.validate()?;
    let mut graph = Graph { name: "policy".into(), ..Default::default() };
    graph.input.push(ValueInfo::matrix("observation", spec.observation_size));
    graph.output.push(ValueInfo::matrix("action", spec.action_size()));
    let mut last = String::from("observation");
    let parts = spec.split(parameters)?;
    if let Some(filter) = &parts.filter {
        last = add_filter(&mut graph, filter, spec.filter.and_then(|f| f.clip), last);
    }
    for (i, layer) in parts.layers.iter().enumerate() {
        last = add_layer(&mut graph, i, layer, last);
    }
    add_squash(&mut graph, spec, last);
    let model = Model {
        ir_version: IR_VERSION,
        producer_name: "autoqd".into(),
        producer_version: env!("CARGO_PKG_VERSION").into(),
        opset_import: vec![OperatorSet { domain: String::new(), version: OPERATOR_SET }],
        graph: Some(graph),
    };
    Ok(model.encode_to_vec())
}

/// (x - mean) * scale, limited to ±clip; returns the name of the result.
fn add_filter(graph: &mut Graph, filter: &FilterParameters<'_>, clip: Option<f64>, input: String) -> String {
    let mut constant = |name: &str, values: &[f64]| {
        graph.initializer.push(Tensor::new(name, &[values.len()], values.iter().copied()));
    };
    constant("filter.mean", filter.mean);
    constant("filter.scale", filter.scale);
    if let Some(clip) = clip {
        constant("filter.low", &[-clip]);
        constant("filter.high", &[clip]);
    }
    graph.node.push(Node::new("Sub", &[&input, "filter.mean"], "filter.moved"));
    graph.node.push(Node::new("Mul", &["filter.moved", "filter.scale"], "filter.scaled"));
    if clip.is_none() {
        return "filter.scaled".into();
    }
    graph.node.push(Node::new("Max", &["filter.scaled", "filter.low"], "filter.above"));
    graph.node.push(Node::new("Min", &["filter.above", "filter.high"], "filter.output"));
    "filter.output".into()
}

/// activation(x W^T + b); returns the name of the result.
fn add_layer(graph: &mut Graph, i: usize, layer: &LayerParameters<'_>, input: String) -> String {
    let (weight, bias) = (format!("layers.{i}.weight"), format!("layers.{i}.bias"));
    let (rows, columns) = (layer.shape.outputs(), layer.shape.inputs);
    graph.initializer.push(Tensor::new(&weight, &[rows, columns], layer.matrix()));
    graph.initializer.push(Tensor::new(&bias, &[rows], (0..rows).map(|r| layer.bias(r))));
    let (sum, output) = (format!("layers.{i}.sum"), format!("layers.{i}.output"));
    let mut gemm = Node::new("Gemm", &[&input, &weight, &bias], &sum);
    gemm.attribute.push(Attribute { name: "transB".into(), integer: 1, kind: ATTRIBUTE_INTEGER });
    graph.node.push(gemm);
    let function = match layer.shape.layer.activation {
        Activation::Tanh => "Tanh",
        Activation::Relu => "Relu",
        Activation::None => return sum,
    };
    graph.node.push(Node::new(function, &[&sum], &output));
    output
}

/// centre + half * x where the last layer ended with tanh, limited to the action bounds.
fn add_squash(graph: &mut Graph, spec: &PolicySpec, input: String) {
    let bounds: Vec<(f64, f64)> =
        spec.action_low.iter().copied().zip(spec.action_high.iter().copied()).collect();
    let mut constant = |name: &str, value: fn(&(f64, f64)) -> f64| {
        graph.initializer.push(Tensor::new(name, &[bounds.len()], bounds.iter().map(value)));
    };
    if spec.squash == Squash::Tanh {
        constant("action.half", |(low, high)| (high - low) / 2.0);
        constant("action.centre", |(low, high)| (low + high) / 2.0);
    }
    constant("action.low", |(low, _)| *low);
    constant("action.high", |(_, high)| *high);
    let moved = match spec.squash {
        Squash::Tanh => {
            graph.node.push(Node::new("Mul", &[&input, "action.half"], "action.scaled"));
            graph.node.push(Node::new("Add", &["action.scaled", "action.centre"], "action.moved"));
            "action.moved"
        }
        Squash::Clip => &input,
    };
    graph.node.push(Node::new("Max", &[moved, "action.low"], "action.above"));
    graph.node.push(Node::new("Min", &["action.above", "action.high"], "action"));
}

// The messages of onnx.proto that are needed, with the field numbers of the specification.

/// Version of the file format: the one that goes with the operator set.
const IR_VERSION: i64 = 7;
/// Operators as of ONNX 1.8, which every current runtime knows.
const OPERATOR_SET: i64 = 13;
const FLOAT: i32 = 1;
const ATTRIBUTE_INTEGER: i32 = 2;

#[derive(Clone, PartialEq, Message)]
struct Model {
    #[prost(int64, tag = "1")]
    ir_version: i64,
    #[prost(string, tag = "2")]
    producer_name: String,
    #[prost(string, tag = "3")]
    producer_version: String,
    #[prost(message, optional, tag = "7")]
    graph: Option<Graph>,
    #[prost(message, repeated, tag = "8")]
    opset_import: Vec<OperatorSet>,
}

#[derive(Clone, PartialEq, Message)]
struct OperatorSet {
    #[prost(string, tag = "1")]
    domain: String,
    #[prost(int64, tag = "2")]
    version: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Graph {
    #[prost(message, repeated, tag = "1")]
    node: Vec<Node>,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(message, repeated, tag = "5")]
    initializer: Vec<Tensor>,
    #[prost(message, repeated, tag = "11")]
    input: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    output: Vec<ValueInfo>,
}

#[derive(Clone, PartialEq, Message)]
struct Node {
    #[prost(string, repeated, tag = "1")]
    input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    output: Vec<String>,
    #[prost(string, tag = "3")]
    name: String,
    #[prost(string, tag = "4")]
    operator: String,
    #[prost(message, repeated, tag = "5")]
    attribute: Vec<Attribute>,
}

impl Node {
    fn new(operator: &str, inputs: &[&str], output: &str) -> Self {
        Self {
            input: inputs.iter().map(|name| name.to_string()).collect(),
            output: vec![output.into()],
            name: format!("{output}.node"),
            operator: operator.into(),
            attribute: Vec::new(),
        }
    }
}

#[derive(Clone, PartialEq, Message)]
struct Attribute {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(int64, tag = "3")]
    integer: i64,
    #[prost(int32, tag = "20")]
    kind: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Tensor {
    #[prost(int64, repeated, tag = "1")]
    dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    data_type: i32,
    #[prost(string, tag = "8")]
    name: String,
    /// Little-endian.
    #[prost(bytes = "vec", tag = "9")]
    raw_data: Vec<u8>,
}

impl Tensor {
    /// Numbers rounded to single precision, as a policy holds them.
    fn new(name: &str, shape: &[usize], values: impl Iterator<Item = f64>) -> Self {
        Self {
            dims: shape.iter().map(|n| *n as i64).collect(),
            data_type: FLOAT,
            name: name.into(),
            raw_data: values.flat_map(|x| (x as f32).to_le_bytes()).collect(),
        }
    }
}

#[derive(Clone, PartialEq, Message)]
struct ValueInfo {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, optional, tag = "2")]
    kind: Option<Type>,
}

#[derive(Clone, PartialEq, Message)]
struct Type {
    #[prost(message, optional, tag = "1")]
    tensor: Option<TensorType>,
}

#[derive(Clone, PartialEq, Message)]
struct TensorType {
    #[prost(int32, tag = "1")]
    element: i32,
    #[prost(message, optional, tag = "2")]
    shape: Option<Shape>,
}

#[derive(Clone, PartialEq, Message)]
struct Shape {
    #[prost(message, repeated, tag = "1")]
    dim: Vec<Dimension>,
}

#[derive(Clone, PartialEq, Message)]
struct Dimension {
    #[prost(oneof = "Size", tags = "1, 2")]
    size: Option<Size>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Size {
    #[prost(int64, tag = "1")]
    Fixed(i64),
    #[prost(string, tag = "2")]
    Named(String),
}

impl ValueInfo {
    /// A matrix with any number of rows.
    fn matrix(name: &str, columns: usize) -> Self {
        let sizes = [Size::Named("batch".into()), Size::Fixed(columns as i64)];
        let shape = Shape { dim: sizes.into_iter().map(|size| Dimension { size: Some(size) }).collect() };
        let kind = Type { tensor: Some(TensorType { element: FLOAT, shape: Some(shape) }) };
        Self { name: name.into(), kind: Some(kind) }
    }
}
