//! Named tensors with metadata in one file that Python reads: safetensors.

use super::archive_table::concat;
use super::{RunFolderError, write_atomic};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

const VERSION: u32 = 1;
/// One key, because the format does not fix the order of several and the bytes should be the same every time.
const KEY: &str = "autoqd";

/// Type of the numbers of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorType {
    /// 32-bit floating point.
    F32,
    /// 64-bit floating point.
    F64,
    /// 64-bit unsigned integers.
    U64,
}

impl TensorType {
    fn dtype(self) -> Dtype {
        match self {
            Self::F32 => Dtype::F32,
            Self::F64 => Dtype::F64,
            Self::U64 => Dtype::U64,
        }
    }

    fn known(dtype: Dtype) -> Option<Self> {
        [Self::F32, Self::F64, Self::U64].into_iter().find(|t| t.dtype() == dtype)
    }
}

/// A named tensor in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Name.
    pub name: String,
    /// Type of the numbers.
    pub kind: TensorType,
    /// Length of each dimension.
    pub shape: Vec<usize>,
    /// The numbers, little-endian.
    pub data: Vec<u8>,
}

macro_rules! of_numbers {
    ($make:ident, $get:ident, $kind:ident, $type:ty) => {
        #[doc = concat!("A tensor of ", stringify!($type), ".")]
        pub fn $make(name: &str, shape: &[usize], values: &[$type]) -> Self {
            let data = concat(values.iter().map(|v| v.to_le_bytes()));
            Self { name: name.to_owned(), kind: TensorType::$kind, shape: shape.to_vec(), data }
        }

        #[doc = concat!("The numbers, if they are ", stringify!($type), ".")]
        pub fn $get(&self) -> Option<Vec<$type>> {
            let chunks = self.data.chunks_exact(size_of::<$type>());
            (self.kind == TensorType::$kind)
                .then(|| chunks.map(|b| <$type>::from_le_bytes(b.try_into().unwrap_or_default())).collect())
        }
    };
}

impl Tensor {
    of_numbers!(f32, to_f32, F32, f32);
    of_numbers!(f64, to_f64, F64, f64);
    of_numbers!(u64, to_u64, U64, u64);
}

/// A file of named tensors and JSON metadata.
///
/// ```
/// use autoqd::run_folder::{Tensor, TensorFile};
/// let mut file = TensorFile::default();
/// file.metadata.insert("task".into(), "hopper".into());
/// file.tensors.push(Tensor::f64("A", &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("descriptor.safetensors");
/// file.write(&path)?;
/// let back = TensorFile::read(&path)?;
/// assert_eq!(back.get("A").unwrap().to_f64().unwrap()[5], 6.0);
/// # Ok::<(), autoqd::run_folder::RunFolderError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TensorFile {
    /// The tensors; reading returns them in order of their names.
    pub tensors: Vec<Tensor>,
    /// Facts about the file.
    pub metadata: Map<String, Value>,
}

#[derive(Serialize, Deserialize)]
struct Envelope {
    version: u32,
    blake3: String,
    metadata: Map<String, Value>,
}

impl TensorFile {
    /// A tensor by name.
    pub fn get(&self, name: &str) -> Option<&Tensor> {
        self.tensors.iter().find(|t| t.name == name)
    }

    /// Writes the file; the same content gives the same bytes.
    pub fn write(&self, path: &Path) -> Result<(), RunFolderError> {
        let bytes = self.encode().map_err(|reason| RunFolderError::encode(path, reason))?;
        write_atomic(path, |file| Ok(file.write_all(&bytes)?))
    }

    fn encode(&self) -> Result<Vec<u8>, super::FillError> {
        let envelope = Envelope { version: VERSION, blake3: self.digest()?, metadata: self.metadata.clone() };
        let info = HashMap::from([(KEY.to_owned(), serde_json::to_string(&envelope)?)]);
        let mut views = Vec::new();
        for t in &self.tensors {
            if views.iter().any(|(name, _)| *name == t.name.as_str()) {
                return Err(format!("there are two tensors named '{}'", t.name).into());
            }
            views.push((t.name.as_str(), TensorView::new(t.kind.dtype(), t.shape.clone(), &t.data)?));
        }
        Ok(safetensors::serialize(views, Some(info))?)
    }

    /// Reads a file and checks it.
    pub fn read(path: &Path) -> Result<Self, RunFolderError> {
        let bytes = std::fs::read(path).map_err(|e| RunFolderError::io("read", path, e))?;
        Self::decode(&bytes, path)
    }

    fn decode(bytes: &[u8], path: &Path) -> Result<Self, RunFolderError> {
        let damaged = |reason: String| RunFolderError::damaged(path, reason);
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|e| damaged(e.to_string()))?;
        let info = header.metadata().as_ref().and_then(|m| m.get(KEY));
        let info =
            info.ok_or_else(|| damaged("it was not written by autoqd: it has no checksum".to_owned()))?;
        let envelope: Envelope = serde_json::from_str(info).map_err(|e| damaged(e.to_string()))?;
        if envelope.version > VERSION {
            let found = envelope.version;
            return Err(RunFolderError::NewerVersion { path: path.to_owned(), found, known: VERSION });
        }
        let views = SafeTensors::deserialize(bytes).map_err(|e| damaged(e.to_string()))?;
        let mut file = Self { tensors: Vec::new(), metadata: envelope.metadata };
        for (name, view) in views.iter() {
            let kind = TensorType::known(view.dtype());
            let kind = kind.ok_or_else(|| damaged(format!("tensor '{name}' has an unexpected type")))?;
            let (name, shape, data) = (name.to_owned(), view.shape().to_vec(), view.data().to_vec());
            file.tensors.push(Tensor { name, kind, shape, data });
        }
        file.tensors.sort_by(|a, b| a.name.cmp(&b.name));
        match file.digest() {
            Ok(digest) if digest == envelope.blake3 => Ok(file),
            _ => Err(damaged("its checksum does not match: it was cut or altered".to_owned())),
        }
    }

    /// Checksum of names, shapes, numbers and metadata.
    fn digest(&self) -> Result<String, serde_json::Error> {
        let mut sorted: Vec<&Tensor> = self.tensors.iter().collect();
        sorted.sort_by(|a, b| a.name.cmp(&b.name));
        let mut hasher = blake3::Hasher::new();
        hasher.update(serde_json::to_string(&self.metadata)?.as_bytes());
        for tensor in sorted {
            let head = (&tensor.name, format!("{:?}", tensor.kind), &tensor.shape);
            hasher.update(serde_json::to_string(&head)?.as_bytes());
            hasher.update(&tensor.data);
        }
        Ok(hasher.finalize().to_hex().to_string())
    }
}
