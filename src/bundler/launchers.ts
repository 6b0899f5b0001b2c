/**
 * Functions whose source text is written into built programs (`launchProgram.toString()`).
 *
 * Each function refers to nothing but its parameters, because only its own text reaches the built
 * program. Do not share helpers between them.
 */

import type { Script } from 'node:vm'
import type { computeChecksum } from './output-files.ts'

/**
 * Not in the types, but in every node; `toString('latin1')` does the same and has more to compile.
 */
type Latin1Buffer = Buffer & { latin1Slice(from?: number, to?: number): string }

declare const require: NodeJS.Require | undefined
declare const __filename: string | undefined

/**
 * The JavaScript half of a built program: what a call needs and nothing else, because V8 compiles
 * it at each start. Its text is written into the file, so it refers to nothing but its parameters.
 * `id` names the bundle, of which `length` bytes are loaded at once. Its compiled code is a file of
 * `size` bytes that ends its first line with `seal`.
 * `questions` are the last words of command lines that are not calls. Those, and starts without
 * compiled code, are left to the piece of the bundle between `from` and `to`.
 * `load` imports a module by its address; it is written into the file too, because node knows how
 * to import for a file.
 * It is read as CommonJS, and as an ES module where the folder says so.
 */
export function launchProgram(
  id: string,
  length: number,
  size: number,
  seal: string,
  questions: string,
  from: number,
  to: number,
  load: (address: string) => Promise<object>,
): void {
  const { argv, version, arch, getBuiltinModule: get } = process
  if (!get) {
    console.error(`${argv[1]}: needs Node.js 20.19 or newer; this is ${version}`)
    return process.exit(78)
  }
  const fs = get('node:fs')
  const vm = get('node:vm')
  const file = typeof __filename === 'string' ? __filename : fs.realpathSync(argv[1]!)
  const base = `${file.endsWith('.cjs') ? file.slice(0, -4) : file}.files/${id}`
  const bundle = `${base}.bundle`
  const read = (path: string, begin: number, end: number, last: number): Latin1Buffer => {
    const descriptor = fs.openSync(path, 'r')
    try {
      const bytes = Buffer.allocUnsafe(end - begin)
      // The last byte of the file tells whether all of it is there, also what is loaded later.
      if (fs.readSync(descriptor, bytes, 0, 1, last - 1) === 0) throw new Error('it is cut off')
      return bytes.subarray(
        0,
        fs.readSync(descriptor, bytes, 0, end - begin, begin),
      ) as Latin1Buffer
    } finally {
      fs.closeSync(descriptor)
    }
  }
  const compile = (
    begin: number,
    end: number,
    filename: string,
    cachedData?: Buffer,
  ): InstanceType<typeof vm.Script> =>
    // An option that is undefined counts as absent.
    new vm.Script(read(bundle, begin, end, to).latin1Slice(), {
      filename,
      cachedData: cachedData as Buffer,
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    })
  const later = (name: string, begin: number, end: number): unknown =>
    compile(length + begin, length + end, `${bundle}/${name.slice(2)}`).runInThisContext()
  const start = (script: InstanceType<typeof vm.Script>): void =>
    script.runInThisContext()(
      file,
      typeof require === 'function' ? require : get('node:module').createRequire(file),
      later,
      load,
    )

  if (!questions.includes(` ${argv.length === 2 ? '' : argv[argv.length - 1]} `)) {
    let script: InstanceType<typeof vm.Script> | undefined
    try {
      const head = `toolable code 1 ${id} ${version} ${arch} ${seal}\n`
      const bytes = read(`${base}.cache`, 0, size, size)
      // V8 trusts what it is given. A number of each page finds those that were never written, and
      // costs next to nothing.
      let sum = size - head.length
      for (let at = head.length; at < size; at += 4096) sum = (sum * 31 + bytes[at]!) % 1e9
      if (bytes.latin1Slice(0, head.length) === head && seal === `${size - head.length} ${sum}`)
        script = compile(0, length, bundle, bytes.subarray(head.length))
    } catch {
      /* a program without compiled code is slower, and nothing else */
    }
    if (script && !script.cachedDataRejected) return start(script)
  }
  let slowly: ((rest: SlowLaunchContext) => void) | undefined
  let problem = 'it is cut off'
  try {
    slowly = compile(from, to, bundle).runInThisContext() as typeof slowly
  } catch (error) {
    problem = (error as NodeJS.ErrnoException).code ?? problem
  }
  if (slowly)
    return slowly({
      fs,
      file,
      id,
      compile: (cachedData) => compile(0, length, bundle, cachedData),
      start,
    })
  console.error(
    `${file}: ${bundle} cannot be read (${problem}); the two belong together: copy both, or build again`,
  )
  process.exit(78)
}

/** What a program gives to the piece of its bundle that does what most starts do not need. */
type SlowLaunchContext = {
  readonly fs: typeof import('node:fs')
  /** The program. */
  readonly file: string
  readonly id: string
  compile(code?: Buffer): Script
  start(script: Script): void
}

/**
 * Starts a program without the compiled code that was built with it, which may be of another node:
 * with code that an earlier start has kept, or else it keeps its own for the next one. Its text is
 * written into the bundle, so it refers to nothing but its parameters.
 */
export function launchWithoutCodeCache(
  { fs, id, compile, start }: SlowLaunchContext,
  seal: typeof computeChecksum,
): void {
  const { env, version, arch, platform } = process
  const head = `toolable code 1 ${id} ${version} ${arch} `
  const place = ownPlace()
  const kept = place === undefined ? undefined : read(place)
  const script = compile(kept)
  // Flags of V8 make another code, and the next start may be without them.
  if (
    place !== undefined &&
    (!kept || script.cachedDataRejected) &&
    process.execArgv.length === 0 &&
    !env['NODE_OPTIONS'] &&
    !env['NODE_V8_COVERAGE']
  )
    process.on('exit', () => keep(place))
  start(script)

  // Undefined for what another bundle, another node or another user has written, and for what is
  // cut off.
  function read(path: string): Buffer | undefined {
    try {
      if (fs.statSync(path).uid !== (process.getuid?.() ?? 0)) return undefined
      const bytes = fs.readFileSync(path)
      const end = bytes.indexOf('\n')
      const data = bytes.subarray(end + 1)
      return bytes.toString('latin1', 0, end) === `${head}${seal(data)}` ? data : undefined
    } catch {
      return undefined
    }
  }

  function ownPlace(): string | undefined {
    const home = env['HOME'] || env['USERPROFILE']
    const folder =
      env['XDG_CACHE_HOME'] ||
      (platform === 'win32'
        ? env['LOCALAPPDATA']
        : home && (platform === 'darwin' ? `${home}/Library/Caches` : `${home}/.cache`))
    return folder && `${folder}/toolable/code/${id}-${version}-${arch}`
  }

  // A program is not told that its next start will be slower.
  function keep(path: string): void {
    const fresh = `${path}.${process.pid}`
    try {
      const data = script.createCachedData()
      // One by one: in /proc and its kin node never comes to an end with `recursive`.
      for (const end of [/\/toolable\/code\/[^/]*$/, /\/code\/[^/]*$/, /\/[^/]*$/]) {
        const folder = path.replace(end, '')
        if (!fs.existsSync(folder)) fs.mkdirSync(folder, { mode: 0o700 })
      }
      fs.writeFileSync(fresh, Buffer.concat([Buffer.from(`${head}${seal(data)}\n`), data]), {
        flag: 'wx',
        mode: 0o600,
      })
      fs.renameSync(fresh, path)
    } catch {
      try {
        fs.rmSync(fresh, { force: true })
      } catch {
        /* it stays */
      }
    }
  }
}

/**
 * Prints what the build has written down for a question about a program, before anything is loaded;
 * false where the program has to be asked: whatever is not the plain case is left to it. Its text
 * is written into files, so it refers to nothing but its parameters. `agents` are the variables
 * that give an agent away.
 */
export function printKnownAnswer(
  fs: typeof import('node:fs'),
  file: string,
  agents: readonly string[],
): boolean {
  const { argv, env } = process
  const words = argv.slice(2)
  let key = `${words.length} ${words.join(' ')}`
  if (!/^0 $| (?:--help|-h|--version|-V|--discover|--tools|--manifest)$/.test(key)) return false
  if (/^0 $| (?:--help|-h)$/.test(key)) {
    if (env['FORCE_COLOR'] || isDevice()) return false
    const values = agents.map((name) => env[name]).filter(Boolean) as string[]
    if (values.some((value) => /^[0nNfF\s]/.test(value))) return false
    if (values.length > 0) key = `agent ${key}`
  }
  const text = fs.readFileSync(file, 'latin1')
  const label = Math.max(text.indexOf(`\n'${key}'`), text.indexOf(`|'${key}'`))
  return label !== -1 && print(decode(text, text.indexOf("%b '", label) + 4))

  function isDevice(): boolean {
    try {
      return fs.fstatSync(1).isCharacterDevice()
    } catch {
      return true
    }
  }

  // As the shell reads it: quotes that meet go on, and printf reads the backslashes.
  function decode(written: string, from: number): Buffer {
    let quoted = ''
    for (let at = from; ;) {
      const end = written.indexOf("'", at)
      quoted += written.slice(at, end)
      if (written.startsWith("'\\''", end)) quoted += "'"
      else if (written[end + 1] !== "'") break
      at = written[end + 1] === '\\' ? end + 4 : end + 2
    }
    return Buffer.from(
      quoted.replace(/\\(\\|0[0-7]{3})/g, (_all, escaped: string) =>
        escaped === '\\' ? '\\' : String.fromCharCode(parseInt(escaped, 8)),
      ),
      'latin1',
    )
  }

  function print(bytes: Buffer): boolean {
    for (let sent = 0; sent < bytes.length;) {
      try {
        sent += fs.writeSync(1, bytes, sent)
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        if (code === 'EPIPE') return true
        if (sent === 0) return false
        if (code !== 'EAGAIN') return process.exit(1)
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
      }
    }
    return true
  }
}

/**
 * The main script of a program in one executable: node calls it, and bundle, compiled code and
 * answers lie in the same file. Its text is written into the file, so it refers to nothing but its
 * parameters:
 * `length` bytes of the bundle are loaded at once, `hasCode` tells whether there is compiled code,
 * and `reply` answers questions about the program before anything is loaded.
 */
export function launchExecutable(
  length: number,
  hasCode: boolean,
  agents: readonly string[],
  reply: typeof printKnownAnswer,
): void {
  const { execPath: file, getBuiltinModule: get } = process
  const fs = get('node:fs')
  const vm = get('node:vm')
  const { getRawAsset } = get('node:sea') as unknown as { getRawAsset(name: string): ArrayBuffer }
  const asset = (name: string): Latin1Buffer => Buffer.from(getRawAsset(name)) as Latin1Buffer
  // How it was called may be a name that only the shell knew how to find.
  process.argv[1] = file
  if (
    reply(
      Object.create(fs, {
        readFileSync: { value: () => asset('answers').latin1Slice() },
      }) as typeof fs,
      file,
      agents,
    )
  )
    return
  const bundle = asset('bundle')
  const compile = (
    begin: number,
    end: number,
    filename: string,
    cachedData?: Buffer,
  ): InstanceType<typeof vm.Script> =>
    new vm.Script(bundle.latin1Slice(begin, end), {
      filename,
      cachedData: cachedData as Buffer,
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    })
  const later = (name: string, begin: number, end: number): unknown =>
    compile(length + begin, length + end, `${file}.bundle/${name.slice(2)}`).runInThisContext()
  // Inside of one executable only a script knows how to import, and node warns of it; what its
  // modules import is no concern of its users.
  const load = (address: string): unknown => {
    const { emitWarning } = process
    process.emitWarning = (...given: readonly unknown[]) =>
      void (
        String(given[0]).includes('USE_MAIN_CONTEXT_DEFAULT_LOADER') ||
        Reflect.apply(emitWarning, process, given)
      )
    return (
      new vm.Script('a=>import(a)', {
        filename: file,
        importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      }).runInThisContext() as (given: string) => unknown
    )(address)
  }
  ;(globalThis as Record<symbol, unknown>)[Symbol.for('toolable.built')] = {
    verified: true,
    single: true,
  }
  compile(0, length, `${file}.bundle`, hasCode ? asset('code') : undefined).runInThisContext()(
    file,
    get('node:module').createRequire(file),
    later,
    load,
  )
}
