// `npm run bench [start [repetitions] | mcp [rounds] | discovery [repetitions] | warm [rounds] |
// runner [rounds] | call [rounds] | workflow [rounds] | views]`: all, one after the other, when
// none is named.
const benches = {
  start: './start.mjs',
  mcp: './mcp.mjs',
  discovery: './discovery.mjs',
  warm: './warm.mjs',
  runner: './runner.mjs',
  call: './call.mjs',
  workflow: './workflow.mjs',
  views: './views.mjs',
}
const chosen = process.argv[2]
if (chosen !== undefined && !Object.hasOwn(benches, chosen))
  throw new Error(`there is no bench '${chosen}'; there are ${Object.keys(benches).join(', ')}`)
for (const name of chosen === undefined ? Object.keys(benches) : [chosen])
  await import(benches[name])
