//! The one style of all pictures: colours that colour-blind readers can tell apart, on light and on dark.

pub use autoqd_draw::Mode;

/// A colour as 0xRRGGBB.
pub type Rgb = u32;

/// The colours of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// Page.
    pub background: Rgb,
    /// Inside of the axes.
    pub plot: Rgb,
    /// Text and axes.
    pub ink: Rgb,
    /// Tick labels and notes.
    pub muted: Rgb,
    /// Grid lines.
    pub grid: Rgb,
    /// Series in order; Okabe and Ito's set, whose members differ in lightness too.
    pub series: [Rgb; 8],
}

impl Theme {
    /// The theme of a mode.
    pub const fn new(mode: Mode) -> Self {
        match mode {
            Mode::Light => Self {
                background: 0xFFFFFF,
                plot: 0xF7F8FA,
                ink: 0x1B1F24,
                muted: 0x57606A,
                grid: 0xE1E4E8,
                series: [0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0xE69F00, 0x56B4E9, 0x6A3D9A, 0x6E7781],
            },
            Mode::Dark => Self {
                background: 0x0D1117,
                plot: 0x151B23,
                ink: 0xE6EDF3,
                muted: 0x9198A1,
                grid: 0x2A313C,
                series: [0x56B4E9, 0xF0813A, 0x2BC79A, 0xE59BC4, 0xF2C14E, 0x9CC9FF, 0xB79CED, 0xA5ADB7],
            },
        }
    }

    /// Colour of series `i`; after eight the colours repeat and the dashes of [`dash`] tell them apart.
    pub fn series(&self, i: usize) -> Rgb {
        self.series[i % self.series.len()]
    }
}

/// Dash pattern of series `i`, a second mark besides the colour.
pub fn dash(i: usize) -> &'static str {
    ["", "7 3", "2 2.5", "9 3 2 3", "12 4", "4 2 1 2", "1 3", "6 2 6 4"][i % 8]
}

/// Anchors of the viridis map: even steps in perceived lightness, readable in grey.
const VIRIDIS: [[f64; 3]; 9] = [
    [68.0, 1.0, 84.0],
    [71.0, 44.0, 122.0],
    [59.0, 81.0, 139.0],
    [44.0, 113.0, 142.0],
    [33.0, 144.0, 141.0],
    [39.0, 173.0, 129.0],
    [92.0, 200.0, 99.0],
    [170.0, 220.0, 50.0],
    [253.0, 231.0, 37.0],
];

/// The sequential colour map at `t` from 0 to 1; anything that is not finite is drawn as 0.
pub fn sequential(t: f64) -> Rgb {
    let t = if t.is_finite() { t.clamp(0.0, 1.0) } else { 0.0 };
    let place = t * (VIRIDIS.len() - 1) as f64;
    let low = (place as usize).min(VIRIDIS.len() - 2);
    let part = place - low as f64;
    (0..3).fold(0, |rgb, c| {
        let value = VIRIDIS[low][c] * (1.0 - part) + VIRIDIS[low + 1][c] * part;
        (rgb << 8) | (value.round() as u32)
    })
}

/// `#rrggbb`.
pub fn hex(color: Rgb) -> String {
    format!("#{color:06x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance of WCAG.
    fn luminance(color: Rgb) -> f64 {
        let channel = |shift: u32| {
            let c = f64::from((color >> shift) & 255) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0)
    }

    fn contrast(a: Rgb, b: Rgb) -> f64 {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        (a / b).max(b / a)
    }

    #[test]
    fn text_is_legible_on_its_ground() {
        for theme in [Theme::new(Mode::Light), Theme::new(Mode::Dark)] {
            for text in [theme.ink, theme.muted] {
                assert!(contrast(text, theme.background) >= 4.5);
                assert!(contrast(text, theme.plot) >= 4.5);
            }
        }
    }

    #[test]
    fn the_colour_map_brightens_all_the_way() {
        let steps: Vec<f64> = (0..=64).map(|i| luminance(sequential(f64::from(i) / 64.0))).collect();
        assert!(steps.windows(2).all(|w| w[0] < w[1]));
        assert_eq!(sequential(f64::NAN), sequential(0.0));
        assert_eq!(sequential(7.0), 0xFDE725);
    }
}
