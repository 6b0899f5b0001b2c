// Runs the steps of a flow in a temporary folder of its own and gives the answer to each.
import { spawn } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { realpathSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { streamLines } from './answers.mjs'
import { Normalizer } from './normalize.mjs'
import { Program, makeEnvironment } from './programs.mjs'
import { splitWords } from './words.mjs'

// Files that show their date show this one.
const DATE = new Date('2026-11-01T12:00:00Z')
const MODERN_VERSION = '2026-07-28'
const HEADERS_LEFT_OUT = new Set([
  'date',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
])

/**
 * Runs a flow; `settings` are { base, here, root, folders }. Returns a list of { title, lines }.
 */
export async function runFlow(flow, settings) {
  const run = new FlowRun(flow, settings)
  try {
    for (const [index, step] of flow.steps.entries()) await run.take(step, index)
    return run.answers
  } finally {
    run.end()
  }
}

class FlowRun {
  answers = []
  #flow
  #root
  #paths
  #normalizer
  #terminal
  #started
  #running
  #seen = 0
  #lastId = 0
  #requestNumber = 0
  #problem

  constructor(flow, { base, here, root, folders }) {
    this.#flow = flow
    this.#root = root
    this.#terminal = join(here, 'test/support/terminal.py')
    this.#paths = makeFolders(base)
    fillFolder(this.#paths.work, folders[flow.folder], { here, root })
    const { work, home, tmp } = this.#paths
    this.#normalizer = new Normalizer([
      [work, '<work>'],
      [home, '<home>'],
      [tmp, '<tmp>'],
      [base, '<base>'],
      [root, '<checkout>'],
      [realpathSync(root), '<checkout>'],
    ])
  }

  async take(step, index) {
    if (step.write) return this.#write(step.write)
    if (step.remove) return rmSync(join(this.#paths.work, step.remove), { recursive: true })
    if (step.prepare) return this.#prepare(step.prepare)
    if (step.until) return this.#waitForEvent(step.until)
    if (step.start) return this.#start(step)
    if (step.send) return this.#send(step)
    if (step.request) return this.#request(step)
    if (step.stop) return this.#stop(step.stop)
    return this.#run(step, index)
  }

  end() {
    this.#started?.killGroup()
    this.#running?.killGroup()
    rmSync(this.#paths.base, { recursive: true, force: true })
  }

  #write(files) {
    for (const [path, text] of Object.entries(files)) {
      const file = join(this.#paths.work, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, this.#normalizer.expand(text))
      if (text.startsWith('#!')) chmodSync(file, 0o755)
    }
  }

  /** Runs a command whose answer is not part of the record. */
  async #prepare(line) {
    const [command, args] = this.#command(line)
    const options = { cwd: this.#paths.work, env: this.#environment(), hasInput: false }
    const status = await new Program(command, args, options).ended
    if (status !== '0') throw new Error(`'${line}' ended with ${status}`)
  }

  /** Waits until the record of a run has an event. */
  async #waitForEvent({ run, event }) {
    const file = join(this.#paths.work, '.runs', this.#normalizer.expand(run), 'events.jsonl')
    const deadline = Date.now() + 60_000
    while (!existsSync(file) || !readFileSync(file, 'utf8').includes(`"type":"${event}"`)) {
      if (Date.now() > deadline) throw new Error(`${run} never told of ${event}`)
      await sleep(20)
    }
  }

  async #run(step, index) {
    const { run, stdin, talk, tty, env } = step
    const [command, args] = this.#command(run)
    const options = { cwd: this.#cwd(step), env: this.#environment(env) }
    const lines = tty
      ? await this.#runInTerminal([command, ...args], options, tty)
      : await this.#runWithPipes(command, args, { ...options, stdin, talk })
    this.#add(this.#title(step, index), [...lines, ...this.#left(step)])
  }

  async #runWithPipes(command, args, { stdin, talk, ...options }) {
    const hasInput = stdin !== undefined || talk !== undefined
    const program = new Program(command, args, { ...options, hasInput })
    this.#running = program
    if (stdin !== undefined) program.write(this.#normalizer.expand(stdin))
    if (stdin !== undefined && !talk) program.closeInput()
    for (const { wait, send, signal, close } of talk ?? []) {
      await program.waitFor(
        (stdout, stderr) => (`${stdout}${stderr}`.includes(wait) ? true : undefined),
        `'${wait}' came`,
      )
      if (send !== undefined) program.write(this.#normalizer.expand(send))
      if (signal) program.child.kill(signal)
      if (close) program.closeInput()
    }
    const status = await program.ended
    return [
      `exit ${status}`,
      ...streamLines('out', this.#normalizer.apply(program.text('stdout'))),
      ...streamLines('err', this.#normalizer.apply(program.text('stderr'))),
    ]
  }

  async #runInTerminal(argv, { cwd, env }, steps) {
    const plan = {
      argv,
      env: { ...env, TERM: 'xterm-256color' },
      columns: 100,
      steps: steps === true ? [] : steps,
      pipes: [],
      cwd,
      timeout: 60,
    }
    const child = spawn('/usr/bin/python3', ['-I', '-S', this.#terminal])
    const chunks = []
    child.stdout.on('data', (chunk) => chunks.push(chunk))
    child.stdin.end(JSON.stringify(plan))
    await new Promise((resolve) => child.on('close', resolve))
    const ended = JSON.parse(Buffer.concat(chunks).toString())
    const screen = this.#normalizer.apply(ended.screen.replaceAll('\r\n', '\n'))
    return [`exit ${ended.status ?? `signal ${ended.signal}`}`, ...streamLines('screen', screen)]
  }

  async #start({ start, kind, env, headers }) {
    const [command, args] = this.#command(start)
    const options = { cwd: this.#paths.work, env: this.#environment(env), hasInput: true }
    this.#started = new Program(command, args, options)
    this.#seen = 0
    if (kind !== 'http') return
    const port = await this.#started.waitFor(
      (stdout, stderr) => /http:\/\/(?:127\.0\.0\.1|localhost):(\d+)/.exec(stdout + stderr)?.[1],
      'it listened',
    )
    this.#normalizer.addPort(port)
    this.#started.port = Number(port)
    this.#started.headers = headers
  }

  /** Sends one message and waits for its response, or for what `wait` names. */
  async #send({ send, era, capabilities }) {
    const { raw, answer, wait, ...message } = send
    const id = message.id ?? this.#lastId + 1
    if (raw !== undefined) this.#started.write(`${raw}\n`)
    else if (answer) this.#sendMessage({ id: this.#problem, ...answer })
    else if (message.notify) this.#sendMessage({ method: message.notify, params: message.params })
    else {
      if (typeof id === 'number') this.#lastId = id
      const params = era === 'modern' ? withMeta(message.params, capabilities) : message.params
      this.#sendMessage({ id, method: message.method, ...(params && { params }) })
    }
    const awaited = wait ?? (message.notify || answer ? [] : ['response'])
    const received = await this.#receive(
      [awaited].flat(),
      raw === undefined && !answer ? id : undefined,
    )
    this.#requestNumber++
    const said = raw ?? answer?.method ?? message.method ?? message.notify ?? 'answer'
    const called = message.params?.name ?? message.params?.uri ?? ''
    this.#add(
      `${this.#flow.name}: ${this.#requestNumber}. ${`${said} ${called}`.slice(0, 100).trim()}`,
      received.map((line) => `<|${this.#normalizer.apply(line)}`),
    )
  }

  #sendMessage(message) {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message })
    this.#started.write(`${this.#normalizer.expand(text)}\n`)
  }

  /** The lines since the last step, until each of the awaited ones has come. */
  async #receive(awaited, id) {
    const isAwaited = (wanted, message) => {
      if (typeof wanted === 'object') return hasFields(message, wanted)
      if (wanted !== 'response') return message.method === wanted
      return message.method === undefined && (id === undefined || message.id === id)
    }
    const lines = await this.#started.waitFor(
      (stdout) => {
        const all = stdout.split('\n').slice(0, -1)
        const fresh = all.slice(this.#seen)
        const messages = fresh.map((line) => JSON.parse(line))
        const isDone = awaited.every((wanted) => messages.some((one) => isAwaited(wanted, one)))
        return isDone ? (awaited.length === 0 ? [] : fresh) : undefined
      },
      `${awaited.join(', ')} came`,
    )
    this.#seen += lines.length
    const question = lines
      .map((line) => JSON.parse(line))
      .findLast((one) => one.method && 'id' in one)
    if (question) this.#problem = question.id
    return lines
  }

  async #request({ request, headers, body, title }) {
    const [, method, path, text] = /^(\S+) (\S+)(?: (.*))?$/s.exec(this.#normalizer.expand(request))
    const sent = body ?? text
    const answer = await askOverHttp({
      port: this.#started.port,
      method,
      path,
      headers: {
        ...(sent !== undefined && { 'content-type': 'application/json' }),
        ...JSON.parse(
          this.#normalizer.expand(JSON.stringify({ ...this.#started.headers, ...headers })),
        ),
      },
      body: sent === undefined ? undefined : this.#normalizer.expand(sent),
    })
    const session = answer.headers['mcp-session-id']
    if (session !== undefined) this.#normalizer.nameValue('session', session)
    const shown = Object.entries(answer.headers).filter(([name]) => !HEADERS_LEFT_OUT.has(name))
    this.#requestNumber++
    this.#add(`${this.#flow.name}: ${this.#requestNumber}. ${(title ?? request).slice(0, 120)}`, [
      `status ${answer.status}`,
      ...shown
        .sort()
        .map(([name, value]) => `head|${name}: ${this.#normalizer.apply(String(value))}`),
      ...streamLines('body', this.#normalizer.apply(answer.body)),
    ])
  }

  async #stop(how) {
    if (how === 'input') this.#started.closeInput()
    else this.#started.child.kill(how)
    const status = await this.#started.ended
    const isHttp = this.#started.port !== undefined
    const left = this.#started.text('stdout').split('\n').slice(this.#seen).join('\n')
    this.#add(`${this.#flow.name}: end`, [
      `exit ${status}`,
      ...streamLines(isHttp ? 'out' : '<', this.#normalizer.apply(left)),
      ...streamLines('err', this.#normalizer.apply(this.#started.text('stderr'))),
    ])
  }

  /** The files that a step names: `tree` lists a folder, `show` prints files. */
  #left({ tree, show }) {
    const lines = []
    if (tree) {
      const folder = join(this.#paths.work, this.#normalizer.expand(tree))
      const names = readdirSync(folder, { recursive: true }).map((name) =>
        this.#normalizer.apply(name),
      )
      lines.push(...names.sort().map((name) => `file|${tree}/${name}`))
    }
    for (const path of show ? [show].flat() : []) {
      const file = join(this.#paths.work, this.#normalizer.expand(path))
      const text = existsSync(file) ? readFileSync(file, 'utf8') : undefined
      lines.push(`show ${path}${text === undefined ? ': not there' : ''}`)
      lines.push(...streamLines('text', this.#normalizer.apply(text ?? '')))
    }
    return lines
  }

  #command(line) {
    const [program, ...args] = splitWords(line).map((word) => this.#normalizer.expand(word))
    if (program === 'toolable')
      return [process.execPath, [join(this.#root, 'dist/toolable.cjs'), ...args]]
    return program === 'node' ? [process.execPath, args] : [program, args]
  }

  #cwd({ cwd = '.' }) {
    return join(this.#paths.work, cwd)
  }

  #environment(env) {
    const own = { ...this.#flow.env, ...env }
    return makeEnvironment(this.#paths, JSON.parse(this.#normalizer.expand(JSON.stringify(own))))
  }

  #title({ run, title, stdin, env, tty, cwd }, index) {
    const words = title ?? run
    const given = [
      stdin !== undefined && `<<< ${JSON.stringify(stdin).slice(0, 80)}`,
      env && `env ${JSON.stringify(env)}`,
      cwd && `in ${cwd}`,
      tty &&
        `(terminal${tty === true ? '' : `, ${tty.map(({ send }) => JSON.stringify(send)).join(' ')}`})`,
    ].filter(Boolean)
    const text = [words, ...(title ? [] : given)].join(' ').replaceAll('\n', '\\n')
    const { name, prefix } = this.#flow
    if (name !== undefined) return `${name}: ${index + 1}. ${text}`
    return prefix === undefined ? text : `${prefix}: ${text}`
  }

  #add(title, lines) {
    this.answers.push({ title, lines })
  }
}

function hasFields(message, fields) {
  return Object.entries(fields).every(([name, value]) => message[name] === value)
}

function withMeta(params, capabilities = {}) {
  return {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': MODERN_VERSION,
      'io.modelcontextprotocol/clientInfo': { name: 'replay', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': capabilities,
      ...params?._meta,
    },
  }
}

function makeFolders(base) {
  const paths = { base, work: join(base, 'work'), home: join(base, 'home'), tmp: join(base, 'tmp') }
  for (const path of Object.values(paths)) mkdirSync(path, { recursive: true })
  return paths
}

function fillFolder(work, template, { here, root }) {
  if (template === undefined)
    throw new Error('a request names a folder that folders.yaml does not have')
  for (const [path, source] of Object.entries(template)) {
    // The helpers for other languages are part of what is tested.
    const from = source.startsWith('emitters') ? root : here
    cpSync(join(from, source), join(work, path), { recursive: true })
  }
  for (const name of readdirSync(work, { recursive: true })) {
    if (statSync(join(work, name)).isFile()) utimesSync(join(work, name), DATE, DATE)
  }
  mkdirSync(join(work, 'node_modules'))
  symlinkSync(root, join(work, 'node_modules/toolable'))
  for (const name of ['zod', 'typescript', 'esbuild']) {
    symlinkSync(join(root, 'node_modules', name), join(work, 'node_modules', name))
  }
}

function askOverHttp({ port, method, path, headers, body }) {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method, path, headers, agent: false }
    const request = httpRequest(options, (response) => {
      const chunks = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const { statusCode: status, headers: received } = response
        resolve({ status, headers: received, body: Buffer.concat(chunks).toString() })
      })
    })
    request.on('error', reject)
    request.end(body)
  })
}
