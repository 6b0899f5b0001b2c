import { createRequire } from 'node:module'
import { Script, constants } from 'node:vm'
import { setBuiltMark } from '../../contract/built.ts'
import type { BuiltMark } from '../../contract/built.ts'
import type { Script as BundleScript } from '../launch/wrap.ts'

/** A bundle that was compiled here; `start` runs it, and settles when its modules are loaded. */
export type LoadedBundle = {
  readonly script: Script
  /** The later chunks that were asked for. */ readonly asked: Set<string>
  start(): Promise<void>
}

/** Compiles a bundle as the program that it belongs to will, with the mark of whoever looks at it. */
export function loadBundle(
  { text, length }: BundleScript,
  program: string,
  bundle: string,
  mark: BuiltMark,
): LoadedBundle {
  const compile = (source: string, filename: string): Script =>
    new Script(source, {
      filename,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    })
  const script = compile(text.slice(0, length), bundle)
  const asked = new Set<string>()
  const later = (name: string, from: number, to: number): unknown => {
    asked.add(name)
    return compile(
      text.slice(length + from, length + to),
      `${bundle}/${name.slice(2)}`,
    ).runInThisContext()
  }
  return {
    script,
    asked,
    start() {
      setBuiltMark(mark)
      return (script.runInThisContext() as (...given: unknown[]) => Promise<void>)(
        program,
        createRequire(program),
        later,
        (address: string) => import(address),
      )
    },
  }
}
