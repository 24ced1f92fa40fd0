//! Responses about TCP connections.

use serde::Serialize;

use super::responses::answer;
use crate::model::{
    ConnectionFigures, ConnectionSeries, HistoryError, LimitSeries, Span, TcpHops, TcpSums,
};

pub(super) fn of_all(
    span: Span,
    connections: Vec<ConnectionFigures>,
    sums: Vec<TcpSums>,
    series: LimitSeries,
    hops: TcpHops,
) -> Result<Vec<u8>, HistoryError> {
    #[derive(Serialize)]
    struct Tcp {
        connections: Vec<ConnectionFigures>,
        sums: Vec<TcpSums>,
        series: LimitSeries,
        hops: TcpHops,
    }
    let tcp = Tcp {
        connections,
        sums,
        series,
        hops,
    };
    answer(Some(span), tcp)
}

pub(super) fn of_flow(
    span: Span,
    connections: Vec<ConnectionFigures>,
    series: ConnectionSeries,
) -> Result<Vec<u8>, HistoryError> {
    #[derive(Serialize)]
    struct FlowTcp {
        connections: Vec<ConnectionFigures>,
        states: ConnectionSeries,
    }
    let tcp = FlowTcp {
        connections,
        states: series,
    };
    answer(Some(span), tcp)
}
