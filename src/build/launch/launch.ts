import type { Rest } from './launch-slowly.ts'

/** Not in the types, but in every node; `toString('latin1')` does the same and has more to compile. */
export type Bytes = Buffer & { latin1Slice(from?: number, to?: number): string }

declare const require: NodeJS.Require | undefined
declare const __filename: string | undefined

/**
 * The JavaScript half of a built program: what a call needs and nothing else, because V8 compiles it at each start. Its text is written into the file, so it refers to nothing but its parameters.
 * `id` names the bundle, of which `length` bytes are loaded at once. Its compiled code is a file of `size` bytes that ends its first line with `seal`.
 * `questions` are the last words of command lines that are not calls. Those, and starts without compiled code, are left to the piece of the bundle between `from` and `to`.
 * `load` imports a module by its address; it is written into the file too, because node knows how to import for a file.
 * It is read as CommonJS, and as an ES module where the folder says so.
 */
export function launch(
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
  const read = (path: string, begin: number, end: number, last: number): Bytes => {
    const descriptor = fs.openSync(path, 'r')
    try {
      const bytes = Buffer.allocUnsafe(end - begin)
      // The last byte of the file tells whether all of it is there, also what is loaded later.
      if (fs.readSync(descriptor, bytes, 0, 1, last - 1) === 0) throw new Error('it is cut off')
      return bytes.subarray(0, fs.readSync(descriptor, bytes, 0, end - begin, begin)) as Bytes
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
    new vm.Script(read(bundle, begin, end, to).latin1Slice(), {
      filename,
      ...(cachedData && { cachedData }),
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
      // V8 trusts what it is given. A number of each page finds those that were never written, and costs next to nothing.
      let sum = size - head.length
      for (let at = head.length; at < size; at += 4096) sum = (sum * 31 + bytes[at]!) % 1e9
      if (bytes.latin1Slice(0, head.length) === head && seal === `${size - head.length} ${sum}`)
        script = compile(0, length, bundle, bytes.subarray(head.length))
    } catch {
      /* a program without compiled code is slower, and nothing else */
    }
    if (script && !script.cachedDataRejected) return start(script)
  }
  let slowly: ((rest: Rest) => void) | undefined
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
