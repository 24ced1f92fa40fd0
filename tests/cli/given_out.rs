//! What is given out: images are the same bytes twice and hold nothing but what they should.

mod tools {
    use std::process::Command;

    use hostint_testing::places;

    #[test]
    fn images_pass_their_checks() {
        for script in ["tests/image.py"] {
            let output = Command::new(places::repository().join(script))
                .output()
                .unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{script}: {stderr}");
        }
    }
}
