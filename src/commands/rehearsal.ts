/** What most starts of `toolable` do. It is built in a folder with such a tool (scripts/build-itself.mjs), and what these command lines load is compiled beforehand. */
export const REHEARSAL = [
  ['list'],
  ['call', 'hello', '--name', 'Ada'],
  ['call', 'hello', '{"name":"Ada"}'],
] as const
