import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Script, constants } from 'node:vm'
import { setBuiltMark } from '../../contract/built.ts'
import type { BuiltMark } from '../../contract/built.ts'

/** A bundle that was compiled here; `start` runs it, and settles when its modules are loaded. */
export type LoadedBundle = { readonly script: Script; start(): Promise<void> }

/** Compiles a bundle as the program that it belongs to will, with the mark of whoever looks at it. */
export function loadBundle(bundle: string, program: string, mark: BuiltMark): LoadedBundle {
  const script = new Script(readFileSync(bundle, 'latin1'), { filename: bundle, importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER })
  return {
    script,
    start() {
      setBuiltMark(mark)
      const require = createRequire(program)
      const inner = { url: pathToFileURL(program).href, filename: program, dirname: dirname(program), resolve: (name: string) => require.resolve(name), main: false }
      return (script.runInThisContext() as (...given: unknown[]) => Promise<void>)(require, require, program, inner.dirname, { ...inner, main: true }, inner)
    },
  }
}
