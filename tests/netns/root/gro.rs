//! Whether a veth device merges packets after the strip is shown truly.

use hostint_testing::netns::Lab;

#[test]
fn a_sink_on_a_veth_without_gro_says_so_once() {
    let advice = "hostint: b0 is a veth with GRO off: received segments are not merged after the strip \
                  (try: ethtool -K b0 gro on)\n";
    for (flags, gro, shown, advised) in [
        ("--hook xdp", "on", Some(true), 0),
        ("--hook xdp", "off", Some(false), 1),
        ("--xdp-mode generic", "off", None, 0),
        ("--hook tc", "off", None, 0),
    ] {
        let lab = Lab::new();
        let command = format!("--dev b0 --node-id 2 {flags}");
        // Some kernels turn GRO on with a veth's first XDP program, so it is set after that.
        drop(lab.b.sink(&command));
        lab.b.sh(&format!("ethtool -K b0 gro {gro}"));
        let mut sink = lab.b.sink(&command);
        let attachment = lab.b.status()["sink"]["attachments"][0].clone();
        assert_eq!(attachment["gro"].as_bool(), shown, "{flags}: {attachment}");
        sink.end();
        let said = sink.stderr();
        assert_eq!(said.matches(advice).count(), advised, "{flags}: {said}");
    }
}
