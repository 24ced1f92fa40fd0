//! Tables that are wider than a terminal have their figures on lines of their own there; programs get a line for each row.

use hostint::views::table::{TextTable, TextWidth};

fn table() -> TextTable {
    let mut table = TextTable::new(&["id", "class", "nodes"], &["packets", "lost"]);
    for (id, nodes, packets) in [
        ("1", "web-1 (11) -> db-1 (33)", "1,234"),
        ("12", "7 -> ?", "5"),
    ] {
        let names = [id, "", nodes].map(str::to_owned);
        table.row(names, [packets, "0"].map(str::to_owned));
    }
    table
}

#[test]
fn a_row_takes_two_lines_where_a_terminal_is_too_narrow() {
    let one_line = "id  nodes                    packets  lost\n\
                    1   web-1 (11) -> db-1 (33)    1,234     0\n\
                    12  7 -> ?                         5     0\n";
    let two_lines = "id  nodes\n  packets  lost\n\
                     1   web-1 (11) -> db-1 (33)\n    1,234     0\n\
                     12  7 -> ?\n        5     0\n";
    let longest = one_line.lines().map(str::len).max().unwrap();
    for (name, columns, folds, wanted) in [
        ("no terminal", 10, false, one_line),
        ("a wide terminal", 200, true, one_line),
        ("one as wide as the table", longest, true, one_line),
        ("one that is narrower", longest - 1, true, two_lines),
    ] {
        let width = TextWidth { columns, folds };
        assert_eq!(table().within(width), wanted, "{name}");
    }
    assert_eq!(table().to_string(), one_line);
}
