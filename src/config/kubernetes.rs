//! The address of the API server that names pods, and the account by which it is asked.

use std::path::PathBuf;

use clap::Args;

use super::heading::OUTPUT;
use super::mistake::{Fault, fault};
use super::url::{Purpose, check_url};

/// The word for the API server of the cluster that the collector runs in.
const IN_CLUSTER: &str = "in-cluster";
/// Where pods have what their account is known by.
const ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

const API_SERVER: Purpose = Purpose {
    key: "kubernetes",
    example: "in-cluster, or https://192.0.2.9:6443",
    login: "kubernetes-account",
};

/// Options of the collector, which are also keys of its table.
#[derive(Args, Clone, Debug, Default)]
pub struct KubernetesOptions {
    /// Name the pods of a Kubernetes cluster: in-cluster, or the URL of its API server or of kubectl proxy [default: none]
    #[arg(long, help_heading = OUTPUT, value_name = "URL")]
    pub kubernetes: Option<String>,

    /// Folder with the files token and ca.crt with which the API server is asked [default:
    /// /var/run/secrets/kubernetes.io/serviceaccount]
    #[arg(long, help_heading = OUTPUT, value_name = "PATH")]
    pub kubernetes_account: Option<PathBuf>,
}

/// The API server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KubernetesConfig {
    /// `None`: that of the cluster in which the collector runs.
    pub url: Option<String>,
    /// The folder with its token and certificates.
    pub account: PathBuf,
}

impl KubernetesOptions {
    pub(super) fn check(&self, faults: &mut Vec<Fault>) -> Option<KubernetesConfig> {
        let place = self.kubernetes.as_deref();
        let url = place.filter(|place| *place != IN_CLUSTER);
        check_url(&API_SERVER, url, faults);
        if place.is_none() && self.kubernetes_account.is_some() {
            let why =
                "it needs kubernetes, without which no API server is asked (try kubernetes too)";
            faults.push(fault(&["kubernetes-account"], why));
        }
        let account = || self.kubernetes_account.clone();
        place.map(|_| KubernetesConfig {
            url: url.map(str::to_owned),
            account: account().unwrap_or_else(|| ACCOUNT.into()),
        })
    }
}
