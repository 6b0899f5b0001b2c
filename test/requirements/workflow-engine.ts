/**
 * The promises of section 9 of the specification about the embedded engine: its journal, what is
 * durable, and executions that share a file.
 */
export const WORKFLOW_ENGINE: { readonly [name: string]: string } = {
  'journal-kept':
    'What was appended to a journal and is synced is there, in order, when it is opened again.',
  'journal-group-commit': 'Whatever came while the disk was busy goes there together.',
  'journal-torn': 'A line that a crash has left without an end is cut, at every byte.',
  'journal-garbage': 'A line that nobody of us wrote is refused with file and line.',
  'journal-newer': 'A journal of a newer version is refused, and left alone.',
  'journal-bounded': 'A record that is too long, or no JSON, is refused and not written.',
  'journal-poisoned': 'Once the disk has lost something, nothing counts as kept any more.',
  'journal-killed':
    'A process that is killed at any named place of its journal leaves one that can be read.',
  'durable-order': 'Recorded results are given again in the order in which they were recorded.',
  'durable-once': 'What is recorded is not launched again.',
  'durable-before-launch':
    'Nothing is launched before everything that it follows from is on the disk.',
  'durable-sleep':
    'A pause has one end, which a restart and a clock that is put back do not move away.',
  'durable-answer': 'A question stays open until it is answered, also across restarts.',
  'durable-cancel': 'A cancellation comes once, and after a restart at the same place.',
  'durable-abort':
    'An operation that is ended is recorded as what it came to; a timer that nobody needs leaves no record.',
  'durable-json': 'The interpreter gets what it would get after a restart.',
  'durable-told': 'What had happened before a restart is told as such.',
  'light-executed': 'Executions of one process are records in a file that they share.',
  'light-group-commit': 'Fifty executions in flight share the syncs of the disk.',
  'light-joined': 'An id that was started already is joined, in this process and in another one.',
  'light-answered': 'The first answer to a question wins.',
  'light-cancelled': 'A cancelled execution takes back what it did, and ends.',
  'light-cancel-outside':
    'toolable cancel ends an execution inside a program: by a request that its process takes, or here where that is gone; one that is over is refused.',
  'light-cancel-left':
    'A request to end an execution that its process has not taken means nothing to the next one.',
  'light-watched':
    'toolable watch and runs logs tell an execution inside a program from its records, as events of a run; answers are for its program.',
  'light-index':
    'The list of executions is an index that is made again from the records where it is missing, torn or old.',
  'light-one-owner':
    'Of two processes that take up what a dead one left one wins, and the other says who has it.',
  'light-resumed': 'What a process left goes on in the next one.',
  'light-adopted': 'What a process left can become a run of its own, once.',
  'light-killed':
    'After kill -9 at named places and at random moments every execution comes to its end, and each recorded step ran once.',
  'light-torn': 'A file that was cut anywhere is read up to there.',
  'light-damaged': 'A damaged file is told by name and line, and harms no other.',
  'light-disk-full': 'On a full disk executions stop, and go on later.',
}
