//! Flags, environment and config file as typed, validated values.

mod carriers;
mod catalogue;
mod changes;
mod choice;
mod clickhouse;
mod clock_error;
mod collect;
mod definition;
mod drop_reasons;
mod duration;
mod engines;
mod file;
mod file_bytes;
mod file_lists;
mod heading;
mod http;
mod int_mode;
mod ipfix;
mod kafka;
mod key;
mod kubernetes;
mod limit;
mod lines;
mod link_speed;
mod mark;
mod mistake;
mod names_table;
mod node_name;
mod number;
mod one_node;
mod option_hop;
mod origin;
mod otlp;
mod overrides;
mod path_items;
mod place;
mod postcards;
mod postcards_checks;
mod precedence;
mod push;
mod push_headers;
mod queue;
mod receivers;
mod roles;
mod run;
mod secret;
mod sink;
mod sink_checks;
mod sink_options;
mod size;
mod source;
mod source_checks;
mod source_encapsulation;
mod source_hook;
mod source_room;
mod static_form;
mod store;
mod syntax;
mod table;
mod table_hint;
mod table_name;
mod tcp;
mod transit;
mod url;
mod value;
mod variable;
mod watch;

pub use carriers::{Carrier, CarrierOptions, Carriers, IntMdMarks};
pub use catalogue::keys;
pub use choice::{Compat, HookChoice, SinkHook, Superpackets};
pub use clickhouse::{ClickHouseConfig, ClickHouseOptions};
pub use collect::{CollectConfig, CollectOptions, OutputFile};
pub use drop_reasons::drop_reasons;
pub use duration::TimeSpan;
pub use engines::{EngineOptions, EnginesConfig};
pub use file::{CommandSettings, File};
pub use file_lists::MAX_RULES;
pub use heading::{ESSENTIALS, OUTPUT};
pub use http::{
    AGENT_HTTP_PORT, COLLECT_HTTP_PORT, POSTCARDS_HTTP_PORT, SINK_HTTP_PORT, TCP_HTTP_PORT,
    TRANSIT_HTTP_PORT,
};
pub use ipfix::{IPFIX_PORT, IpfixConfig, IpfixOptions, IpfixTransport};
pub use kafka::{KafkaCompression, KafkaConfig, KafkaLogin, KafkaOptions, KafkaSasl};
pub use key::read_key;
pub use kubernetes::KubernetesConfig;
pub use limit::{LimitOptions, LossShare};
pub use mark::{BadMark, DscpMark, EXTENSION_PORT, IntDscpOption};
pub use mistake::{ConfigError, Fault, Mistake};
pub use node_name::{IdentityOptions, IdentitySettings};
pub use number::number_problem;
pub use option_hop::OptionHop;
pub use origin::Origin;
pub use overrides::Overrides;
pub use path_items::{PathItem, PathItems};
pub use postcards::{
    DropsChoice, HopsChoice, NetnsChoice, PostcardFormat, PostcardsConfig, PostcardsOptions,
};
pub use precedence::{Settled, settle, settle_source};
pub use push::{PushConfig, PushOptions};
pub use push_headers::PushHeaders;
pub use queue::QueueOptions;
pub use receivers::{MAX_REPORT_PORTS, MAX_SPREAD, report_ports};
pub use roles::Role;
pub use run::{RunConfig, RunOptions};
pub use secret::Password;
pub use sink::SinkConfig;
pub use sink_options::{LogFormatName, ReportFormat, SinkOptions, XdpMode};
pub use size::Size;
pub use source::{SourceConfig, SourceOptions, SourceSetup};
pub use source_encapsulation::{FORM_UNKNOWN, SourceEncapsulation};
pub use source_hook::SourceHook;
pub use source_room::room;
pub use store::{StoreConfig, StoreOptions, StorePlace};
pub use table::{SettingsTable, TableEntry};
pub use table_name::{
    COLLECT, LIMITS, NAMES, POSTCARDS, QUEUE, RUN, SINK, SOURCE, TCP, TRANSIT, WATCH,
};
pub use tcp::{OptionPeers, TcpConfig, TcpOptions, TcpReportChoice};
pub use transit::{TransitConfig, TransitOptions, TransitSetup};
pub use url::PageUrl;
pub use variable::{budget_of_environment, variable, variables};
pub use watch::{FileRules, WatchOptions};

/// The usual path of a host's config file, which the services always use.
pub const USUAL_FILE: &str = "/etc/hostint/hostint.toml";
