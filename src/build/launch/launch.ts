import type { Script } from 'node:vm'

declare const require: NodeJS.Require | undefined
declare const __filename: string | undefined

/**
 * The JavaScript half of a built program. Its text is written into the file, so it refers to nothing but its parameters:
 * `id` names the bundle, of which `length` bytes are loaded at once; `agents` are the variables that give an agent away.
 * It is read as CommonJS, and as an ES module where the folder says so.
 */
export function launch(id: string, length: number, agents: readonly string[]): void {
  const { argv, env, version, arch } = process
  const get = process.getBuiltinModule as ((name: string) => never) | undefined
  if (!get) {
    console.error(`${argv[1]}: needs Node.js 20.19 or newer; this is ${version}`)
    return process.exit(78)
  }
  const fs: typeof import('node:fs') = get('node:fs')
  const file = typeof __filename === 'string' ? __filename : fs.realpathSync(argv[1]!)
  const base = file.replace(/\.cjs$/, '')
  if (!answer()) run()

  // What the build has written down is printed before anything is loaded; whatever is not the plain case is left to the program.
  function answer(): boolean {
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
  }

  function isDevice(): boolean {
    try {
      return fs.fstatSync(1).isCharacterDevice()
    } catch {
      return true
    }
  }

  // As the shell reads it: quotes that meet go on, and printf reads the backslashes.
  function decode(text: string, from: number): Buffer {
    let quoted = ''
    for (let at = from; ;) {
      const end = text.indexOf("'", at)
      quoted += text.slice(at, end)
      if (text.startsWith("'\\''", end)) quoted += "'"
      else if (text[end + 1] !== "'") break
      at = text[end + 1] === '\\' ? end + 4 : end + 2
    }
    return Buffer.from(quoted.replace(/\\(\\|0[0-7]{3})/g, (_all, escaped: string) => (escaped === '\\' ? '\\' : String.fromCharCode(parseInt(escaped, 8)))), 'latin1')
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

  function run(): void {
    const bundle = `${base}.files/${id}.bundle`
    let source: string
    try {
      source = piece(bundle, 0, length)
    } catch (error) {
      console.error(`${file}: ${bundle} cannot be read (${(error as NodeJS.ErrnoException).code}); the two belong together: copy both, or build again`)
      return process.exit(78)
    }
    const vm: typeof import('node:vm') = get!('node:vm')
    const head = `toolable code 1 ${id} ${version} ${arch} `
    const cachedData = read(`${base}.files/${id}.cache`, head) ?? read(ownPlace(), head, true)
    const script = new vm.Script(source, { filename: bundle, ...(cachedData && { cachedData }), importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER })
    // Flags of V8 make another code, and the next start may be without them.
    if ((!cachedData || script.cachedDataRejected) && process.execArgv.length === 0 && !env['NODE_OPTIONS'] && !env['NODE_V8_COVERAGE']) process.on('exit', () => remember(script, head))
    const inner = { get url() { return (get!('node:url') as typeof import('node:url')).pathToFileURL(file).href }, filename: file, dirname: file.slice(0, Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\'))), resolve: (name: string) => (get!('node:module') as typeof import('node:module')).createRequire(file).resolve(name), main: false }
    ;(globalThis as Record<symbol, unknown>)[Symbol.for('toolable.built')] = { verified: true }
    let settled = false
    const load = typeof require === 'function' ? require : (get!('node:module') as typeof import('node:module')).createRequire(file)
    const later = (name: string, from: number, to: number): unknown => new vm.Script(piece(bundle, length + from, length + to), { filename: `${bundle}/${name.slice(2)}`, importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER }).runInThisContext()
    void (script.runInThisContext() as (...given: unknown[]) => Promise<void>)(load, file, inner.dirname, Object.create(inner, { main: { value: true, enumerable: true } }), inner, later).then(() => (settled = true))
    // As node ends a module that waits for something that never happens.
    process.once('beforeExit', () => {
      if (!settled) process.exitCode = 13
    })
  }

  function piece(path: string, from: number, to: number): string {
    const descriptor = fs.openSync(path, 'r')
    try {
      const bytes = Buffer.allocUnsafe(to - from)
      return bytes.toString('latin1', 0, fs.readSync(descriptor, bytes, 0, to - from, from))
    } finally {
      fs.closeSync(descriptor)
    }
  }

  // Undefined for what another bundle, another node or another user has written, and for what is cut off.
  function read(path: string | undefined, head: string, own = false): Buffer | undefined {
    try {
      if (path === undefined || (own && fs.statSync(path).uid !== (process.getuid?.() ?? 0))) return undefined
      const bytes = fs.readFileSync(path)
      const end = bytes.indexOf('\n')
      const data = bytes.subarray(end + 1)
      return bytes.toString('latin1', 0, head.length) === head && `${data.length} ${checksum(data)}` === bytes.toString('latin1', head.length, end) ? data : undefined
    } catch {
      return undefined
    }
  }

  // V8 trusts what it is given. A number of each sector finds those that were never written, and costs next to nothing.
  function checksum(data: Uint8Array): number {
    let sum = data.length
    for (let at = 0; at < data.length; at += 512) sum = (sum * 31 + data[at]!) % 1e9
    return sum
  }

  function ownPlace(): string | undefined {
    const home = env['HOME'] || env['USERPROFILE']
    const folder = env['XDG_CACHE_HOME'] || (process.platform === 'win32' ? env['LOCALAPPDATA'] : home && (process.platform === 'darwin' ? `${home}/Library/Caches` : `${home}/.cache`))
    return folder && `${folder}/toolable/code/${id}-${version}-${arch}`
  }

  // A program is not told that its next start will be slower.
  function remember(script: Script, head: string): void {
    const place = ownPlace()
    if (place === undefined) return
    const fresh = `${place}.${process.pid}`
    try {
      const data = script.createCachedData()
      // One by one: in /proc and its kin node never comes to an end with `recursive`.
      for (const end of [/\/toolable\/code\/[^/]*$/, /\/code\/[^/]*$/, /\/[^/]*$/]) {
        const folder = place.replace(end, '')
        if (!fs.existsSync(folder)) fs.mkdirSync(folder, { mode: 0o700 })
      }
      fs.writeFileSync(fresh, Buffer.concat([Buffer.from(`${head}${data.length} ${checksum(data)}\n`), data]), { flag: 'wx', mode: 0o600 })
      fs.renameSync(fresh, place)
    } catch {
      try {
        fs.rmSync(fresh, { force: true })
      } catch { /* it stays */ }
    }
  }
}
