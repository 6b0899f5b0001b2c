import { createRequire } from 'node:module'
import { dirname, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'esbuild'

/** What became of zod in a bundle. */
export type ZodUse = {
  /** Some module of the program's own imports it, and gets records. */ recorded: boolean
  /** Files of packages that import it too. */ readonly packages: Set<string>
}

/** Puts records in the place of zod for the program's own modules. */
export function zodRecords(ownFolder: string, entry: string, use: ZodUse): Plugin {
  return {
    name: 'toolable-zod',
    setup(build) {
      build.onResolve(
        { filter: /^zod(\/v4)?$/ },
        async ({ path, importer, namespace, kind, pluginData }) => {
          if (pluginData === SEEN || namespace === 'zod-records' || namespace === 'toolable-start')
            return undefined
          const own =
            importer.startsWith(ownFolder) || !importer.includes(`${sep}node_modules${sep}`)
          if (!own) {
            if (!/[\\/]node_modules[\\/]zod[\\/]/.test(importer)) use.packages.add(importer)
            return undefined
          }
          if (kind !== 'import-statement') return undefined
          use.recorded = true
          return { path, namespace: 'zod-records', sideEffects: false }
        },
      )
      build.onLoad({ filter: /.*/, namespace: 'zod-records' }, async ({ path }) => ({
        contents: writeModule(await namesOf(path, entry)),
        resolveDir: dirname(entry),
      }))
    },
  }
}

const SEEN = { seen: 'toolable-zod' }

async function namesOf(path: string, entry: string): Promise<readonly string[]> {
  const zod = await import(pathToFileURL(createRequire(entry).resolve(path)).href)
  return Object.keys(zod).filter(
    (name) => /^[A-Za-z_$][\w$]*$/.test(name) && !['z', 'default', 'module.exports'].includes(name),
  )
}

function writeModule(names: readonly string[]): string {
  return [
    "import{recordZod}from'toolable/built'",
    `const r=/* @__PURE__ */recordZod({load:()=>{globalThis[Symbol.for('toolable.built')]?.onZod?.();return __toolable_zod()},table:__toolable_table})`,
    'export{r as z,r as default}',
    ...names.map(
      (name, index) =>
        `const n${index}=/* @__PURE__ */(()=>r[${JSON.stringify(name)}])();export{n${index} as ${name}}`,
    ),
  ].join('\n')
}
