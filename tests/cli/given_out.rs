//! What is given out: images are the same bytes twice and hold nothing but what they should, and the install script writes nothing
//! that it cannot check.

mod tools {
    use std::process::Command;

    use hostint_testing::places;

    #[test]
    fn images_and_the_install_script_pass_their_checks() {
        for script in ["tests/image.py", "tests/install.py"] {
            let output = Command::new(places::repository().join(script))
                .output()
                .unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{script}: {stderr}");
        }
    }
}
