// The end of `npm start`: the dashboard over a little project, with one run that is over, one that
// goes on and one that waits for an answer.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const toolable = fileURLToPath(new URL('../../dist/bin.js', import.meta.url))
const example = fileURLToPath(new URL('../../examples/dashboard/', import.meta.url))
const LONGEST_START_MS = 60_000

/** Opens a project with three runs and its dashboard; resolves when it listens. */
export async function openDashboard(environment, { seconds = 8 } = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolable-demo-')))
  writeFileSync(
    join(folder, 'toolable.yaml'),
    `modules: [${JSON.stringify(join(example, 'tools.mjs'))}]\nworkflows: [${JSON.stringify(join(example, 'workflows'))}]\n`,
  )
  const call = (argv) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [toolable, ...argv], {
      cwd: folder,
      env: environment,
      encoding: 'utf8',
      timeout: LONGEST_START_MS,
    })
    if (status !== 0) throw new Error(`toolable ${argv.join(' ')} ended with ${status}: ${stderr}`)
    return stdout
  }
  const start = (...argv) => JSON.parse(call(['run', '--detach', ...argv])).result.run_id
  let server
  const close = async () => {
    // What still runs is ended before its folder goes.
    for (const { run_id: id } of JSON.parse(
      call([
        'runs',
        'list',
        '--state',
        'running',
        '--state',
        'waiting_ai',
        '--state',
        'queued',
        '-o',
        'json',
      ]),
    ).result.runs)
      call(['cancel', id, '-o', 'json'])
    if (server?.exitCode === null) {
      server.kill('SIGTERM')
      await new Promise((settle) => server.once('close', settle))
    }
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    call(['run', 'count_words', '--text', 'one definition, and a tool for everybody', '-o', 'json'])
    const live = start('build_site', '--seconds', String(seconds))
    const waiting = start('send_newsletter')
    server = spawn(process.execPath, [toolable, 'ui', '--port', '0'], {
      cwd: folder,
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    return { url: await untilListening(server), live, waiting, server, call, close }
  } catch (error) {
    await close().catch(() => undefined)
    throw error
  }
}

function untilListening(server) {
  return new Promise((settle, refuse) => {
    let said = ''
    const look = (chunk) => {
      said += chunk
      const url = /http:\/\/127\.0\.0\.1:\d+\/\S*?token=[\w-]+/.exec(said)?.[0]
      if (url !== undefined) settle(url)
    }
    server.stderr.setEncoding('utf8').on('data', look)
    server.once('close', (status) =>
      refuse(new Error(`the dashboard ended with ${status}: ${said}`)),
    )
  })
}
