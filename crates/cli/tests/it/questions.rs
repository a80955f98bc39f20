//! How the binary reads questions: frames, contractions, mistyped names, plain words that are names of files, and names
//! that are no single identifier.

use crate::common::Sandbox;

#[test]
fn one_question_in_other_words_has_one_answer() {
    let sandbox = Sandbox::new();
    sandbox
        .write("src/events.py", "def dispatch(event):\n    for handler in event.handlers:\n        handler(event)\n");
    sandbox.write("src/queue.py", "class Queue:\n    def push(self, event):\n        self.events.append(event)\n");
    sandbox.write("src/mail.py", "def my_mail(i):\n    return i\n\n\ndef can_send(mail):\n    return mail\n");
    let answer = |query: &str| sandbox.run(&["--query", query, "--all"]).out;
    let expected = answer("cannot dispatch an event");
    assert!(expected.starts_with("src/events.py:1:"), "{expected}");
    for query in [
        "can't dispatch an event",
        "can’t dispatch an event",
        "Can't dispatch an event",
        "cant dispatch an event",
        "can not dispatch an event",
        "I cannot dispatch an event",
        "we can't dispatch an event",
        "my event cannot dispatch",
    ] {
        let ran = answer(query);
        assert!(ran.starts_with("src/events.py:1:"), "{query}: {ran}");
        assert_eq!(ran.lines().count(), expected.lines().count(), "{query}: {ran}");
        assert!(!ran.contains("mail.py"), "{query}: {ran}");
    }
}
