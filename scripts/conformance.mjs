// `npm run conformance [-- [--url URL] [scenario …]]`: the official suite against our fixture (or a
// server that runs already), with every failed check spelled out.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { freePort, untilListening } from './conformance/free-port.mjs'
import { plainEnvironment } from './conformance/newer-node.mjs'
import { extras, runRequirements, runScenarios, summarise } from './conformance/suite.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { url: { type: 'string' }, warnings: { type: 'boolean' } },
})
const server =
  values.url === undefined ? await startFixture() : { url: values.url, stop: () => undefined }
try {
  const runs =
    positionals.length > 0
      ? [[positionals.join(', '), await runScenarios(server.url, positionals)]]
      : [
          ['2025-11-25', await runRequirements(server.url, '2025-11-25')],
          ['2026-07-28', await runRequirements(server.url, '2026-07-28')],
          ['skills', await runScenarios(server.url, extras)],
        ]
  for (const [title, scenarios] of runs) for (const scenario of scenarios) report(title, scenario)
  for (const [title, scenarios] of runs) console.log(summarise(title, scenarios))
  if (runs.some(([, scenarios]) => scenarios.some(({ passed }) => !passed))) process.exitCode = 1
} finally {
  await server.stop()
}

function report(title, { name, scored, checks }) {
  const wanted = values.warnings || positionals.length > 0 ? ['FAILURE', 'WARNING'] : ['FAILURE']
  for (const { id, status, errorMessage, details } of checks.filter((check) =>
    wanted.includes(check.status),
  )) {
    console.log(
      `${status === 'FAILURE' ? '✗' : '!'} ${title} ${name}${scored ? '' : ' (unscored)'} ${id}\n    ${errorMessage}\n    ${(JSON.stringify(details) ?? '').slice(0, 1500)}\n`,
    )
  }
}

async function startFixture() {
  const port = await freePort()
  const fixture = fileURLToPath(new URL('../test/fixtures/conformance.mjs', import.meta.url))
  const child = spawn(
    process.execPath,
    [
      fixture,
      '--serve-mcp',
      'http',
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
      '--no-progressive',
    ],
    { env: plainEnvironment(), stdio: ['ignore', 'inherit', 'inherit'] },
  )
  const ended = new Promise((settle, refuse) => child.on('error', refuse).on('close', settle))
  await untilListening(
    port,
    ended.then((status) => `exit ${status}`),
  )
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
