import { dirname, join, sep } from 'node:path'
import type { Plugin } from 'esbuild'
import { OUTSIDE } from './builtins.ts'

/** What a program takes from this package comes from the copy that builds it; packages that it may use only where they are installed are looked for from the program. */
export function ownPackage(folder: string, entry: string): Plugin {
  const files: { readonly [name: string]: string } = {
    toolable: 'index.js',
    'toolable/zod': 'zod.js',
    'toolable/testing': 'testing.js',
    'toolable/built': 'built.js',
  }
  return {
    name: 'toolable-own',
    setup(build) {
      build.onResolve({ filter: /^toolable(\/(zod|testing|built))?$/ }, ({ path }) => ({
        path: join(folder, files[path]!),
        sideEffects: false,
      }))
      build.onResolve(
        { filter: /^(ai|zod|esbuild|typescript|@restatedev\/.*)$/ },
        async ({ path, importer, kind, pluginData }) => {
          if (
            pluginData === SEEN ||
            !importer.startsWith(folder.endsWith(sep) ? folder : folder + sep)
          )
            return undefined
          const found = await build.resolve(path, {
            kind,
            resolveDir: dirname(entry),
            importer,
            pluginData: SEEN,
          })
          return found.errors.length === 0 ? found : { path, namespace: OUTSIDE }
        },
      )
      // Its main file hands `require` on to a function, where a bundler cannot follow it; there is one of ES modules besides.
      build.onResolve({ filter: /^jsonc-parser$/ }, ({ importer, kind, resolveDir }) =>
        importer.startsWith(folder)
          ? build.resolve('jsonc-parser/lib/esm/main.js', { importer, kind, resolveDir })
          : undefined,
      )
    },
  }
}

const SEEN = { seen: 'toolable-own' }
