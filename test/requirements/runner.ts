/** The promises of section 7 of the specification about how runs are supervised. */
export const RUNNER: { readonly [name: string]: string } = {
  record:
    'A run says what it is, what its tool says and how it ended; what is mirrored is what is recorded.',
  forgery: 'A tool cannot write lines of the runner, of another run, or after its own end.',
  'no-result': 'Exit 0 without a result is a failure for a protocol tool.',
  contradiction:
    'A result does not count where the exit status says otherwise; the exit status of the tool passes through.',
  plain:
    'The output of a plain program becomes its log and its exit status the result; a status that the manifest does not know is warned of.',
  deadline: 'A silent tool is ended at its deadline, with E_DEADLINE and 124.',
  heartbeat:
    'A protocol tool that gives no sign of life is ended after its grace, with E_HEARTBEAT_MISSED and 124, whatever it says on stderr.',
  'heartbeat-binds': 'Heartbeats keep a protocol tool alive; a plain program owes none.',
  'late-result': 'A result after the deadline is refused and recorded.',
  cancel:
    'A cancelled tool is asked by its cancel file and SIGTERM, and its own words and status count.',
  'kill-tree': 'What does not end within the grace is killed, with everything that it has started.',
  daemon: 'A daemon that keeps stdout open delays nobody and does not survive its run.',
  'answer-lines': 'The calling agent answers a question by a JSON line on stdin.',
  'answers-typed':
    'A text that is typed as an answer, on a command line or at a terminal, is read as its question wants it: an option, yes or no, JSON that fits its schema, else text.',
  nobody:
    'With nobody to answer a run fails with the exact command that goes on, and that command does.',
  waiting:
    'A detached run really waits for an answer; one that does not fit is refused, the first that fits counts.',
  'asks-and-goes-on': 'A tool that asks and does not wait is not held up.',
  resume:
    'resume keeps the run id and the workspace, starts a new attempt at the checkpoint, and leads out of failed only.',
  retries:
    'Failures of the class retryable are tried again, each attempt on record; others are not.',
  'runner-api':
    'A host runs tools on record in a bounded pool, each with a folder and an answer of its own.',
  'run-secrets':
    'A secret reaches the tool as a file, and no record, log, error or mirrored line holds it.',
  'run-artifacts':
    'What a tool made is hashed and kept when its tree is dead; what lies outside, or is a link, is refused.',
  'run-outputs': 'Outputs are put in their place on success only, paths are those of the caller.',
  'run-environment':
    'A tool gets the variables of its run, the allow-list and what its manifest requires; nothing else of the host.',
  'run-caps': 'Without any word about it a line has 1 MiB, stderr 64 MB and a run 256 MB.',
  'run-flood':
    'A flood of lines is recorded whole with flat memory; too much output ends the run with OUTPUT_LIMIT and one endless line is cut.',
  states:
    'One function makes every transition of a run: queued, running, waiting_ai while a question is open, and one end for each attempt; resume and retries lead out of failed and cancelled, nothing out of completed.',
  'question-time':
    'A question waits for its own time; then its default is the answer, or the failure names the command that goes on. The first answer that fits wins.',
  'clock-stands':
    'Deadline and heartbeat stand still while a question is open, and go on with what was left.',
  'retry-pauses':
    'The pauses between attempts grow exponentially, are never the same, and have a bound.',
  'run-calls': 'Tools that are no programs run on record too, and their questions are answered.',
  'hand-over':
    'A detached run belongs to its supervisor before its id is told; of two who resume a run one gets it, and the other changes nothing.',
  'cancel-between':
    'A run that waits for its next attempt can be cancelled, and is recorded as cancelled.',
  overruled:
    'A tool that has ended by itself cannot be ended any more; what it told before it had to be ended does not count and is on record.',
  'answers-apart':
    'An answer belongs to one question, whatever a tool calls its questions; toolable answer counts beside the agent, and an answer that does not fit is told.',
  'record-lost':
    'A tool whose record cannot be written is ended at once, and its run is finished when there is space again.',
  'odd-records':
    'Links, pipes and folders in the place of records hold nobody up, and a run that is not over and has no lock is finished by whoever acts on it.',
  'told-beside':
    'What a plain program tells beside the protocol is on record, and does not make it owe heartbeats.',
  'slow-reader': 'One who reads slowly slows a tool down, and does not keep it from its deadline.',
  'tool-deadline': 'A tool made with this house knows the deadline of its run.',
  'run-killed':
    'A runner that is killed leaves no process of its run, and the next start finishes the record as interrupted.',
  'run-asks':
    'Arguments that only ask about a tool (--help, --version, --describe, --selftest) are no work: what it prints passes as that of a plain program, with its exit status.',
  'run-words':
    'A person sees one aligned line for each thing that matters, questions only where they are answered, and at the end how long it took, what was saved and how it goes on.',
  'run-numbers':
    'Numbers for the runner that make no sense are refused before anything starts, and a misspelt flag is named with the one that was meant.',
}
