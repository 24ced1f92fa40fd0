//! Squares of flows' counts, from which the loss of flows that were chosen by chance tells the loss of all.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Sums over flows of products of two counts: packets that never arrived, and packets sent. A flow counts as a whole, since
/// it began: parts of it share its path, so they would not tell as much as flows of their own. What the sums grew by is
/// therefore larger than that of the growth alone, and an interval by it may be wider than it need be.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct FlowSquares {
    #[serde(serialize_with = "write", deserialize_with = "read")]
    pub lost: i128,
    #[serde(serialize_with = "write", deserialize_with = "read")]
    pub lost_sent: i128,
    #[serde(serialize_with = "write", deserialize_with = "read")]
    pub sent: i128,
}

impl FlowSquares {
    /// Those of one flow.
    pub fn of_flow(lost: u64, sent: u64) -> Self {
        let (lost, sent) = (i128::from(lost), i128::from(sent));
        let product = |one: i128, other: i128| one.saturating_mul(other);
        Self {
            lost: product(lost, lost),
            lost_sent: product(lost, sent),
            sent: product(sent, sent),
        }
    }

    /// What they grew by. It can be negative: packets that were declared lost can arrive.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            lost: self.lost.saturating_sub(before.lost),
            lost_sent: self.lost_sent.saturating_sub(before.lost_sent),
            sent: self.sent.saturating_sub(before.sent),
        }
    }

    pub fn add(&mut self, more: Self) {
        self.lost = self.lost.saturating_add(more.lost);
        self.lost_sent = self.lost_sent.saturating_add(more.lost_sent);
        self.sent = self.sent.saturating_add(more.sent);
    }

    pub fn all(self) -> [i128; 3] {
        [self.lost, self.lost_sent, self.sent]
    }

    pub fn from_all([lost, lost_sent, sent]: [i128; 3]) -> Self {
        Self {
            lost,
            lost_sent,
            sent,
        }
    }
}

/// Programs that read JSON have 64 bits, or else a float.
fn write<S: Serializer>(sum: &i128, to: S) -> Result<S::Ok, S::Error> {
    match i64::try_from(*sum) {
        Ok(sum) => to.serialize_i64(sum),
        Err(_) => to.serialize_f64(*sum as f64),
    }
}

fn read<'a, D: Deserializer<'a>>(from: D) -> Result<i128, D::Error> {
    let number = serde_json::Number::deserialize(from)?;
    let float = || number.as_f64().map(|float| float as i128);
    let read = number.as_i64().map(i128::from).or_else(float);
    read.ok_or_else(|| serde::de::Error::custom("not a sum of squares"))
}
