/** Prints what the build has written down for a question about a program, before anything is loaded; false where the program has to be asked: whatever is not the plain case is left to it. Its text is written into files, so it refers to nothing but its parameters. `agents` are the variables that give an agent away. */
export function answer(
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
