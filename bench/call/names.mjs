/** What `bench/call.mjs` measures, by the names that it prints. */
export const CALLS = 2000
export const BARE = 'bare: parse and function'
export const BARE_APPENDING = 'bare: parse, function and append to a list of frozen items'
export const BARE_LATER = 'bare: parse and async function'
export const NAMES = [
  BARE,
  BARE_APPENDING,
  BARE_LATER,
  'call',
  'call of an async handler',
  'call with a state that is not looked at',
  'call that reads a state',
  'call that appends to a state',
  'call with a state and files that are not looked at',
  'call with a state and a guard',
  'call with a budget',
  'call with a state and a subscriber',
  ...[10, 10_000].flatMap((items) => [
    `append, ${items} items`,
    `append that fails, ${items} items`,
    `snapshot, append and restore, ${items} items`,
  ]),
]
