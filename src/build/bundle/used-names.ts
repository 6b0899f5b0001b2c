import type * as Esbuild from 'esbuild'
import type { BuildOptions, Plugin } from 'esbuild'
import type { OwnReach, UsedNames } from './own-reach.ts'

/** Which public names of this package a program uses: it is bundled with marks in their place, and esbuild leaves out the marks that nobody needs. */
export async function findUsedNames(
  esbuild: typeof Esbuild,
  { names }: OwnReach,
  options: BuildOptions,
): Promise<UsedNames> {
  const { outputFiles } = await esbuild.build({
    ...options,
    write: false,
    splitting: false,
    plugins: [marks(names), ...(options.plugins ?? []), withoutZod],
  })
  const found: { [entry: string]: string[] } = Object.fromEntries(
    Object.keys(names).map((entry) => [entry, []]),
  )
  for (const { text } of outputFiles)
    for (const [, entry, name] of text.matchAll(/__toolable_name\("([^" ]+) ([^"]+)"\)/g))
      found[entry!]!.push(name!)
  return found
}

function marks(names: OwnReach['names']): Plugin {
  return {
    name: 'toolable-marks',
    setup(build) {
      build.onResolve({ filter: /^toolable(\/.*)?$/ }, ({ path }) =>
        Object.hasOwn(names, path)
          ? { path, namespace: 'toolable-marks', sideEffects: false }
          : undefined,
      )
      build.onLoad({ filter: /.*/, namespace: 'toolable-marks' }, ({ path }) => ({
        contents: Object.keys(names[path]!)
          .map(
            (name) =>
              `export const ${name}=/* @__PURE__ */__toolable_name(${JSON.stringify(`${path} ${name}`)})`,
          )
          .join('\n'),
      }))
    },
  }
}

// What never imports this package need not be read.
const withoutZod: Plugin = {
  name: 'toolable-without-zod',
  setup: (build) =>
    build.onResolve({ filter: /^zod(\/.*)?$/ }, ({ path }) => ({ path, external: true })),
}
