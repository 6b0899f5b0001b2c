/**
 * The promises of section 8 of the specification about state, its members and the record of calls.
 */
export const STATE: { readonly [name: string]: string } = {
  'state-slices':
    'Slices have latest, all, where, append, replace, upsert, clear and reduce; state slices roll back, log slices stay.',
  'state-frozen': 'Items of slices are frozen all the way down, so that only the list changes.',
  'state-shared': 'Lists that grew apart share what they have in common and do not see each other.',
  'state-json': 'A state becomes JSON with a version, and comes back as it was.',
  'state-json-refused':
    'Another version, what is no state, and items that JSON would change are CONFIG errors that name the place.',
  'state-members':
    'Members are opened at the first look, once for the state or once for each call, and closed in the reverse order.',
  'state-circles':
    'Members that need each other in a circle are a CONFIG error, also when both ends are opened at the same time.',
  'state-snapshotable':
    'Members with snapshot and restore are used by one call at a time and put back when it fails.',
  'state-transactional': 'Members with begin commit together with the slices, or not at all.',
  'state-nested':
    'A call inside another works on its changes of the same state: its own go with that call, and its failure takes back its own alone.',
  'state-over':
    'What a call leaves running when it is over changes nothing any more and holds nobody up.',
  'state-parallel':
    'Calls at the same time see the state as it was when they began; their changes are made again on what others left.',
  'state-conflict':
    'A call that would undo what another did meanwhile fails with a CONFLICT that can be retried.',
  'state-subscriber': 'A subscriber that fails rolls back everything that a call on a state did.',
  'state-stuck':
    'A commit that does not end, because its subscriber waits for another call on the state, fails that call and not the state.',
  'state-listener':
    'A subscriber that takes no end holds a call up for a minute at most: then what the call did on a state is taken back, and others go on.',
  'state-record':
    'tool_invoked carries prompt, adapter, tool, input, outcome, session, time, usage, rendered output, call id, run and event id.',
  'state-surfaces':
    'Calls share the state of a toolset or registry in process, through a registry, over HTTP and over MCP: they roll back (also when they are cancelled in the middle), meet and are guarded there alike.',
  'state-property':
    'After any sequence of calls, at the same time or not, state and folder are what a plain model says.',
}
