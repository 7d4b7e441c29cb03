//! Search by meaning: a sentence-embedding model turns a text into a vector, and texts that mean much the same have
//! vectors that point the same way.
//!
//! The model is read once, from a local directory, by a program built with the feature `meaning`; without it there is none
//! to be had. Vectors are whole numbers: the same two always compare alike, on any machine.

#[cfg(not(feature = "meaning"))]
mod absent;
#[cfg(feature = "meaning")]
mod bert;

#[cfg(not(feature = "meaning"))]
use absent::Network;
#[cfg(feature = "meaning")]
use bert::Network;

use std::path::Path;

use serde::{Serialize, Serializer, ser};
use serde_json::value::RawValue;

use crate::error::{Code, Error, Result};

/// What tells models apart: a digest of all their files.
pub type ModelDigest = [u8; 32];

/// A sentence-embedding model, ready for use by any number of threads.
pub struct Model {
    network: Network,
    digest: ModelDigest,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").finish_non_exhaustive()
    }
}

impl Model {
    /// Reads the model in `directory` and tries it: `config.json`, `tokenizer.json` and `model.safetensors` of a BERT whose
    /// sentence vector is the mean of its last layer.
    ///
    /// # Errors
    /// The program was built without the feature, or the directory holds no such model; in one line.
    pub fn load(directory: &Path) -> Result<Self> {
        let (network, digest) = Network::load(directory).map_err(|why| {
            let message = format!("the embedding model {}: {why}", directory.display());
            Error::refuse(Code::InvalidArgument, message)
        })?;
        Ok(Self { network, digest })
    }

    /// What tells the model apart from others.
    #[must_use]
    pub const fn digest(&self) -> &ModelDigest {
        &self.digest
    }

    /// What a text means; of a long one, what its beginning means.
    ///
    /// # Errors
    /// The model fails on it, which is a fault.
    pub fn vector(&self, text: &str) -> Result<Vector> {
        self.network.vector(text).map_err(Error::fault)
    }
}

/// The length of every vector: its components are fractions of it.
const UNIT: i16 = i16::MAX;

/// What a text means, as a direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vector(Vec<i16>);

impl Vector {
    /// The vector with these components, if its length is that of a vector, but for rounding.
    #[cfg_attr(not(feature = "meaning"), cfg(test))]
    fn of(components: &[i64]) -> Option<Self> {
        let components: Vec<i16> =
            components.iter().map(|one| i16::try_from(*one).ok()).collect::<Option<_>>()?;
        let squares: i64 = components.iter().map(|one| i64::from(*one).pow(2)).sum();
        let full = i64::from(UNIT).pow(2);
        let is_unit = (full - squares).abs() <= full / 100;
        is_unit.then_some(Self(components))
    }

    /// As a column holds it: two bytes a component, the lower first.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|one| one.to_le_bytes()).collect()
    }

    /// From a column.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.as_chunks::<2>().0.iter().map(|pair| i16::from_le_bytes(*pair)).collect())
    }

    /// How much two texts mean the same: the cosine of the angle between their vectors, 0 where it is negative or where
    /// they are of different models.
    #[must_use]
    pub fn likeness(&self, other: &Self) -> Score {
        if self.0.len() != other.0.len() {
            return Score::NONE;
        }
        let pairs = self.0.iter().zip(&other.0);
        let dot: i64 = pairs.map(|(a, b)| i64::from(*a) * i64::from(*b)).sum();
        let full = i64::from(UNIT).pow(2);
        Score::of_ten_thousandths((dot.saturating_mul(Score::SCALE) + full / 2) / full)
    }
}

/// How well something matches, from 0 to 1, with four decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(i64);

impl Score {
    /// No match.
    pub const NONE: Self = Self(0);
    const SCALE: i64 = 10_000;

    /// So many ten-thousandths, brought into the range.
    #[must_use]
    pub const fn of_ten_thousandths(number: i64) -> Self {
        match number {
            ..0 => Self::NONE,
            Self::SCALE.. => Self(Self::SCALE),
            number => Self(number),
        }
    }

    /// The number of ten-thousandths.
    #[must_use]
    pub const fn ten_thousandths(self) -> i64 {
        self.0
    }
}

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = format!("{}.{:04}", self.0 / Self::SCALE, self.0 % Self::SCALE);
        let raw: &RawValue = serde_json::from_str(&text).map_err(ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl schemars::JsonSchema for Score {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Score".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "number" })
    }
}

#[cfg(test)]
mod tests {
    use super::{Model, Score, UNIT, Vector};

    fn along(components: [i16; 3]) -> Vector {
        Vector::of(&components.map(i64::from)).unwrap()
    }

    #[test]
    fn a_likeness_is_from_none_to_one_and_the_same_both_ways() {
        let (east, north, west) = (along([UNIT, 0, 0]), along([0, UNIT, 0]), along([-UNIT, 0, 0]));
        let between = along([23_170, 23_170, 0]);
        for (a, b, written) in [
            (&east, &east, "1.0000"),
            (&east, &north, "0.0000"),
            (&east, &west, "0.0000"),
            (&east, &between, "0.7071"),
        ] {
            assert_eq!(serde_json::to_string(&a.likeness(b)).unwrap(), written);
            assert_eq!(a.likeness(b), b.likeness(a));
        }
        assert_eq!(east.likeness(&Vector::from_bytes(&[0; 8])), Score::NONE);
    }

    #[test]
    fn a_vector_is_stored_as_it_is_and_has_its_length() {
        let vector = along([23_170, -23_170, 0]);
        assert_eq!(Vector::from_bytes(&vector.to_bytes()), vector);
        assert_eq!(Vector::of(&[0, 0, 0]), None);
        assert_eq!(Vector::of(&[40_000, 0, 0]), None);
    }

    #[test]
    fn a_directory_without_a_model_is_refused_in_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let said = Model::load(folder.path()).unwrap_err().to_string();
        assert!(said.contains(&folder.path().display().to_string()), "{said}");
        assert!(!said.contains('\n'), "{said}");
    }
}
