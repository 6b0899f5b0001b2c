/**
 * The promises of section 9 of the specification about workflows on many machines, and on every
 * engine alike.
 */
export const WORKFLOW_RESTATE: { readonly [name: string]: string } = {
  conformance:
    'Both engines pass one suite: the same definitions come to the same end, undisturbed, killed anywhere, and cancelled anywhere; what is recorded is not done again.',
  'restate-steps': 'The Restate engine takes every kind of step, and asks what tools ask.',
  'restate-answers':
    'The first answer wins, whoever gives it; others are told so, also while no worker is alive.',
  'restate-killed':
    'Killing a worker or the server anywhere loses nothing; a tool that still runs is joined.',
  'restate-cancel': 'Cancelling reaches tools on workers, takes back what was done, and cleans up.',
  'restate-workers':
    'Workers register themselves, take over from each other behind one address, and leave in peace.',
  'restate-hash': 'A definition that was changed on its way is refused.',
  'restate-unreachable':
    'A server that is not there is told by its address and what to do, after a few tries.',
  'restate-client':
    'A workflow at a server is a run here: told about, answered, cancelled, and followed again after kill -9.',
  'restate-packages': 'SDK and server are asked for by name where they are not installed.',
  'restate-guarded': 'Beyond loopback a worker needs a token, and lets nobody in without it.',
}
