//! Plots as SVG and PNG, in one style.
//!
//! Every plot is a [`Figure`] of [`Panel`]s, and every panel a list of [`Mark`]s in the coordinates of its data;
//! the functions of this module turn the numbers of a run into such figures.

mod archive;
mod curves;
mod distributions;
mod figure;
mod mark;
mod raster;
mod scale;
mod stats;
pub(crate) mod svg;
mod theme;

pub use archive::{ArchivePlot, heatmap, heatmap_pairs, parallel_axes};
pub use curves::{Curve, Point, adaptation, curve_panel, learning_curves, success_counts, trade_off};
pub use distributions::{Sample, ablation_bars, box_plots, summary_boxes, violins};
pub use figure::{ColorBar, Figure, LegendEntry, Panel};
pub use mark::{Mark, Marker, Tile};
pub use raster::{png, svg_to_pixels};
pub use scale::{Axis, Scale};
pub use stats::{Band, band_over_seeds, mean_and_error};
pub use theme::{Mode, Rgb, Theme, dash, hex, sequential};
