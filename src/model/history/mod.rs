//! Questions to a history, and its answers.

mod answer;
mod extent;
mod figures;
mod history_call;
mod history_drops;
mod history_passages;
mod history_queues;
mod history_reader;
mod history_tcp;
mod history_tcp_hops;
mod loss_of_all;
mod pair_question;
mod question;
mod span;
mod tcp_question;
mod when;

pub use answer::Answer;
pub use extent::Extent;
pub use figures::{
    ClassFigures, Figures, FlowFigures, FlowOrder, FlowQuery, LEAST_SAMPLES, MatrixFigure,
    MeasuredFigures, PairFigures, Point, ReportQuery, Series, ShownFigures, Subject,
};
pub use history_call::{HistoryCall, HistoryReply};
pub use history_drops::{
    DropFigures, DropGrouping, DropPoint, DropQuery, DropSeries, LossAt, LossByHost, LossSplit,
    PairDrops,
};
pub use history_passages::{ForwardedFlow, PassageOrder, PassageQuery};
pub use history_queues::{EpisodeOrder, EpisodeQuery, ReportedEpisode};
pub use history_reader::{History, HistoryError};
pub use history_tcp::{
    AnswerTimes, CONNECTION_SILENT_NS, ConnectionCounts, ConnectionFigures, ConnectionOrder,
    ConnectionPoint, ConnectionQuery, ConnectionSeries, ConnectionState, HostTcpRow, LimitPoint,
    LimitSeries, TcpGrouping, TcpGrowth, TcpSums,
};
pub use history_tcp_hops::{TcpHop, TcpHops};
pub use loss_of_all::{ALIKE, HOLDS_PERCENT, LossOfAll};
pub use pair_question::{OthersToo, PairAnswer};
pub use question::Question;
pub use span::Span;
pub use tcp_question::TcpQuestion;
pub use when::When;
