//! A writer of SVG text: fixed number format and order, so the same picture is the same bytes.

use std::fmt::Write;

use super::theme::{Rgb, hex};

/// Where a text is anchored horizontally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Begins at the point.
    Start,
    /// Centred on the point.
    Middle,
    /// Ends at the point.
    End,
}

/// How a text looks.
#[derive(Clone, Copy, Debug)]
pub struct TextStyle {
    /// Font size in pixels.
    pub size: f64,
    /// Colour.
    pub color: Rgb,
    /// Horizontal anchor.
    pub anchor: Anchor,
    /// Bold or regular.
    pub bold: bool,
    /// Degrees, clockwise.
    pub rotate: f64,
}

impl TextStyle {
    /// Regular, horizontal, starting at the point.
    pub fn new(size: f64, color: Rgb) -> Self {
        Self { size, color, anchor: Anchor::Start, bold: false, rotate: 0.0 }
    }

    /// With this anchor.
    pub fn anchor(mut self, anchor: Anchor) -> Self {
        self.anchor = anchor;
        self
    }

    /// In bold.
    pub fn bold(mut self) -> Self {
        self.bold = true;
        self
    }

    /// Turned clockwise by these degrees.
    pub fn rotate(mut self, degrees: f64) -> Self {
        self.rotate = degrees;
        self
    }
}

/// An SVG drawing under construction.
#[derive(Clone, Debug)]
pub struct Svg {
    width: f64,
    height: f64,
    body: String,
}

impl Svg {
    /// An empty drawing of this size in pixels.
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    /// Size in pixels.
    pub fn size(&self) -> (f64, f64) {
        (self.width, self.height)
    }

    /// The finished document.
    pub fn finish(self) -> String {
        let (w, h) = (number(self.width), number(self.height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
             font-family=\"Noto Sans, system-ui, sans-serif\">\n{}</svg>\n",
            self.body
        )
    }

    /// Raw markup; the caller is responsible for its well-formedness.
    pub fn raw(&mut self, markup: &str) {
        self.body.push_str(markup);
    }

    /// A filled rectangle with crisp edges.
    pub fn rect(&mut self, x: f64, y: f64, w: f64, h: f64, fill: Rgb) {
        let (x, y, w, h) = (number(x), number(y), number(w), number(h));
        let _ = writeln!(
            self.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" fill=\"{}\"/>",
            hex(fill)
        );
    }

    /// A straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: Rgb, width: f64) {
        let _ = writeln!(
            self.body,
            "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"{}\"/>",
            number(from.0),
            number(from.1),
            number(to.0),
            number(to.1),
            hex(stroke),
            number(width)
        );
    }

    /// A line through points; nothing for fewer than two.
    pub fn polyline(&mut self, points: &[(f64, f64)], stroke: Rgb, width: f64, dash: &str, opacity: f64) {
        if points.len() < 2 {
            return;
        }
        let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
        let _ = writeln!(
            self.body,
            "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\" \
             stroke-linecap=\"round\"{dash}{}/>",
            path(points, false),
            hex(stroke),
            number(width),
            opacity_attribute("stroke-opacity", opacity)
        );
    }

    /// A filled polygon.
    pub fn polygon(&mut self, points: &[(f64, f64)], fill: Rgb, opacity: f64) {
        let opacity = opacity_attribute("fill-opacity", opacity);
        let _ = writeln!(self.body, "<path d=\"{}\" fill=\"{}\"{opacity}/>", path(points, true), hex(fill));
    }

    /// A disc.
    pub fn circle(&mut self, center: (f64, f64), radius: f64, fill: Rgb, opacity: f64) {
        let (x, y, r) = (number(center.0), number(center.1), number(radius));
        let opacity = opacity_attribute("fill-opacity", opacity);
        let _ =
            writeln!(self.body, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"{}\"{opacity}/>", hex(fill));
    }

    /// A text whose base line passes through the point.
    pub fn text(&mut self, at: (f64, f64), text: &str, style: TextStyle) {
        let anchor = match style.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if style.bold { " font-weight=\"700\"" } else { "" };
        let (x, y) = (number(at.0), number(at.1));
        let rotate = match style.rotate {
            0.0 => String::new(),
            degrees => format!(" transform=\"rotate({} {x} {y})\"", number(degrees)),
        };
        let _ = writeln!(
            self.body,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" fill=\"{}\"{anchor}{weight}{rotate}>{}</text>",
            number(style.size),
            hex(style.color),
            escape(text)
        );
    }
}

fn opacity_attribute(name: &str, opacity: f64) -> String {
    if opacity >= 1.0 { String::new() } else { format!(" {name}=\"{}\"", number(opacity)) }
}

fn path(points: &[(f64, f64)], closed: bool) -> String {
    let mut d = String::with_capacity(12 * points.len());
    for (i, (x, y)) in points.iter().enumerate() {
        let _ = write!(d, "{}{} {}", if i == 0 { "M" } else { "L" }, number(*x), number(*y));
    }
    if closed {
        d.push('Z');
    }
    d
}

/// At most two decimals, no trailing zeros, no negative zero; what is not finite becomes 0.
pub(crate) fn number(x: f64) -> String {
    if !x.is_finite() {
        return "0".to_string();
    }
    let text = format!("{x:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_string() } else { text.to_string() }
}

/// Text as XML and HTML content.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Not allowed in XML at all.
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}

/// Width of a text, near enough to lay out legends and margins without shaping it.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' | ' ' => 0.29,
        'f' | 't' | 'r' | '(' | ')' | '-' | '/' => 0.38,
        'm' | 'w' | 'M' | 'W' => 0.9,
        c if c.is_uppercase() => 0.67,
        _ => 0.57,
    };
    text.chars().map(em).sum::<f64>() * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_form() {
        let forms: Vec<String> = [1.0, -0.001, 0.125, 12.50, f64::NAN].map(number).into();
        assert_eq!(forms, ["1", "0", "0.12", "12.5", "0"]);
    }

    #[test]
    fn text_cannot_leave_its_element() {
        assert_eq!(escape("<a b='\"&\u{1}'>"), "&lt;a b=&#39;&quot;&amp;\u{FFFD}&#39;&gt;");
    }
}
