import type { Script } from 'node:vm'
import type { sealOf } from './seal-code.ts'

/** What a program gives to the piece of its bundle that does what most starts do not need. */
export type Rest = {
  readonly fs: typeof import('node:fs')
  /** The program. */
  readonly file: string
  readonly id: string
  compile(code?: Buffer): Script
  start(script: Script): void
}

/** Starts a program without the compiled code that was built with it, which may be of another node: with code that an earlier start has kept, or else it keeps its own for the next one. Its text is written into the bundle, so it refers to nothing but its parameters. */
export function launchSlowly({ fs, id, compile, start }: Rest, seal: typeof sealOf): void {
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

  // Undefined for what another bundle, another node or another user has written, and for what is cut off.
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
