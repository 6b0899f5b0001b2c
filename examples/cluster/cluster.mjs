// A Restate cluster of three nodes and two workers on one machine; a workflow goes on while one of
// each is killed.
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openBalancer } from './balancer.mjs'
import { startNode } from './node.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
// Where `npm install` was run; in the repository of toolable the packages of its tests do.
const packages = resolve(process.argv[2] ?? here)
const toolable = resolve(process.argv[3] ?? join(here, 'node_modules/.bin/toolable'))
const program = findServer()
const folder = mkdtempSync(join(tmpdir(), 'toolable-cluster-'))
const started = []

try {
  const project = join(folder, 'project')
  for (const name of ['tools', 'workflows', 'toolable.yaml'])
    cpSync(join(here, name), join(project, name), { recursive: true })
  symlinkSync(join(packages, 'node_modules'), join(folder, 'node_modules'))

  const ports = await freePorts(11)
  const fabrics = ports.slice(0, 3)
  const nodes = [1, 2, 3].map((number) =>
    startNode(program, folder, {
      number,
      fabrics,
      ports: { fabric: fabrics[number - 1], ingress: ports[2 + number], admin: ports[5 + number] },
    }),
  )
  started.push(...nodes)
  const [first, second] = /** @type {[typeof nodes[0] & {}, typeof nodes[0] & {}]} */ (
    /** @type {unknown} */ (nodes)
  )
  await Promise.all(
    nodes.map(({ ingress, admin }) =>
      Promise.all([healthy(`${admin}/health`), healthy(`${ingress}/restate/health`)]),
    ),
  )
  console.log('three nodes are up')

  const balancer = await openBalancer(ports.slice(9))
  const workers = await Promise.all(
    ports.slice(9).map((port) => startWorker(project, port, second.admin, balancer.url)),
  )
  console.log('two workers are registered')
  const [lost] = /** @type {[typeof workers[0] & {}]} */ (/** @type {unknown} */ (workers))

  const workflow = toolableIn(project, [
    'workflow',
    'run',
    'count',
    JSON.stringify({
      texts: [
        'one',
        'two words',
        'three words here',
        'and four of them',
        'five words are in this',
        'six of them are in here',
      ],
    }),
    '--engine',
    'restate',
    '--ingress',
    second.ingress,
    '--admin',
    second.admin,
  ])
  await said(workflow, '"task_done"')
  console.log('the first text is counted')
  first.child.kill('SIGKILL')
  await first.gone
  console.log('node 1 was killed')
  lost.child.kill('SIGKILL')
  await lost.gone
  console.log('worker 1 was killed')
  const status = await workflow.gone
  const result = workflow
    .text()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .findLast(({ type }) => type === 'result')
  console.log(`the workflow ended with status ${status}: ${JSON.stringify(result?.result)}`)
  balancer.close()
  process.exitCode = status
} finally {
  for (const { child } of started) child.kill('SIGKILL')
  await Promise.all(started.map(({ gone }) => gone))
  rmSync(folder, { recursive: true, force: true })
}
process.exit()

function findServer() {
  try {
    return createRequire(join(packages, 'package.json')).resolve(
      `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
    )
  } catch {
    console.error(
      `the Restate server is not installed in ${packages}: run npm install here first, or name the folder that has it`,
    )
    process.exit(1)
  }
}

function toolableIn(cwd, args) {
  const child = spawn(process.execPath, [toolable, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk))
  const one = {
    child,
    text: () => text,
    gone: new Promise((resolve) => child.once('close', resolve)),
  }
  started.push(one)
  return one
}

async function startWorker(project, port, admin, balancer) {
  const worker = toolableIn(project, [
    'worker',
    '--listen',
    `127.0.0.1:${port}`,
    '--admin',
    admin,
    '--advertise',
    balancer,
  ])
  await said(worker, '"listening"')
  return worker
}

async function said({ text, child }, wanted) {
  while (!text().includes(wanted)) {
    if (child.exitCode !== null) throw new Error(`it ended without '${wanted}': ${text()}`)
    await pause(20)
  }
}

async function healthy(url) {
  for (let tries = 0; tries < 1500; tries += 1) {
    if (
      await fetch(url).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return
    await pause(20)
  }
  throw new Error(`${url} does not answer; ${readdirSync(folder).join(', ')} ${existsSync(folder)}`)
}

// Below the ports that a system gives to connections that go out: what is free there stays so until
// it is listened to.
async function freePorts(count) {
  const found = []
  for (let port = 15_000 + (process.pid % 1000) * 15; found.length < count; port += 1)
    if (await isFree(port)) found.push(port)
  return found
}

function isFree(port) {
  return new Promise((resolve) => {
    const probe = createServer()
    probe
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
