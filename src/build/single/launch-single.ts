import type { answer } from '../launch/answer.ts'
import type { Bytes } from '../launch/launch.ts'

/**
 * The main script of a program in one executable: node calls it, and bundle, compiled code and answers lie in the same file. Its text is written into the file, so it refers to nothing but its parameters:
 * `length` bytes of the bundle are loaded at once, `hasCode` tells whether there is compiled code, and `reply` answers questions about the program before anything is loaded.
 */
export function launchSingle(
  length: number,
  hasCode: boolean,
  agents: readonly string[],
  reply: typeof answer,
): void {
  const { execPath: file, getBuiltinModule: get } = process
  const fs = get('node:fs')
  const vm = get('node:vm')
  const { getRawAsset } = get('node:sea') as unknown as { getRawAsset(name: string): ArrayBuffer }
  const asset = (name: string): Bytes => Buffer.from(getRawAsset(name)) as Bytes
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
      ...(cachedData && { cachedData }),
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    })
  const later = (name: string, begin: number, end: number): unknown =>
    compile(length + begin, length + end, `${file}.bundle/${name.slice(2)}`).runInThisContext()
  // Inside of one executable only a script knows how to import, and node warns of it; what its modules import is no concern of its users.
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
