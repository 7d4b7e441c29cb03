//! No model: the program was built without the feature `meaning`.

use std::convert::Infallible;
use std::path::Path;

use super::{ModelDigest, Vector};

/// A network that no program without the feature has.
pub(super) enum Network {}

impl Network {
    pub(super) fn load(_: &Path) -> Result<(Self, ModelDigest), &'static str> {
        Err("this program was built without the feature `meaning`, and searches by words only")
    }

    pub(super) fn vector(&self, _: &str) -> Result<Vector, Infallible> {
        match *self {}
    }
}
