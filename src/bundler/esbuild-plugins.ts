/**
 * esbuild plugins: Node built-ins and external packages by function call, this package from its own
 * built files, and records in place of zod.
 */

import { builtinModules, createRequire } from 'node:module'
import { dirname, join, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'esbuild'

const BUILTIN_NAMES = new Set(builtinModules)

/**
 * Modules of node and packages that stay outside are asked for by functions, because a script has
 * no `import`. Their names are looked up at each use, as node keeps them: somebody may replace one.
 */
export function externalModulesPlugin(external: readonly string[]): Plugin {
  return {
    name: 'toolable-outside',
    setup(build) {
      build.onResolve({ filter: /^(node:)?[a-z0-9_]/ }, ({ path }) => {
        const name = path.replace(/^node:/, '')
        return path.startsWith('node:') || BUILTIN_NAMES.has(name)
          ? { path: `node:${name}`, namespace: 'node', sideEffects: false }
          : undefined
      })
      build.onResolve({ filter: /^[^./]/ }, ({ path, namespace }) => {
        const isOutside =
          namespace !== EXTERNAL_NAMESPACE &&
          external.some((name) => path === name || path.startsWith(`${name}/`))
        return isOutside ? { path, namespace: EXTERNAL_NAMESPACE } : undefined
      })
      build.onLoad({ filter: /.*/, namespace: 'node' }, ({ path }) => ({
        contents: `module.exports=process.getBuiltinModule(${JSON.stringify(path)})`,
      }))
      build.onLoad({ filter: /.*/, namespace: EXTERNAL_NAMESPACE }, ({ path }) => ({
        contents: renderExternalRequire(path),
      }))
    },
  }
}

// Missing itself, not something that it needs.
function renderExternalRequire(path: string): string {
  const name = /^(?:@[^/]+\/)?[^/]+/.exec(path)![0]
  const words = `Cannot find package '${name}', which stays outside of this program; install it beside the program: npm install ${name}`
  return `try{module.exports=__toolable_require(${JSON.stringify(path)})}catch(e){throw e.code==='MODULE_NOT_FOUND'&&e.requireStack?.length===1?Object.assign(new Error(${JSON.stringify(words)}),{code:e.code,outside:true}):e}`
}

/** The namespace of packages that are looked for when the program runs. */
const EXTERNAL_NAMESPACE = 'toolable-outside'

/**
 * What a program takes from this package comes from the copy that builds it; packages that it may
 * use only where they are installed are looked for from the program.
 */
export function ownPackagePlugin(folder: string, entry: string): Plugin {
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
            pluginData === OWN_PACKAGE_SEEN ||
            !importer.startsWith(folder.endsWith(sep) ? folder : folder + sep)
          )
            return undefined
          const found = await build.resolve(path, {
            kind,
            resolveDir: dirname(entry),
            importer,
            pluginData: OWN_PACKAGE_SEEN,
          })
          return found.errors.length === 0 ? found : { path, namespace: EXTERNAL_NAMESPACE }
        },
      )
      // Its main file hands `require` on to a function, where a bundler cannot follow it; there is
      // one of ES modules besides.
      build.onResolve({ filter: /^jsonc-parser$/ }, ({ importer, kind, resolveDir }) =>
        importer.startsWith(folder)
          ? build.resolve('jsonc-parser/lib/esm/main.js', { importer, kind, resolveDir })
          : undefined,
      )
    },
  }
}

const OWN_PACKAGE_SEEN = { seen: 'toolable-own' }

/** What became of zod in a bundle. */
export type ZodUse = {
  /** Some module of the program's own imports it, and gets records. */ recorded: boolean
  /** Files of packages that import it too. */ readonly packages: Set<string>
}

/** Puts records in the place of zod for the program's own modules. */
export function zodRecordsPlugin(ownFolder: string, entry: string, use: ZodUse): Plugin {
  return {
    name: 'toolable-zod',
    setup(build) {
      build.onResolve(
        { filter: /^zod(\/v4)?$/ },
        async ({ path, importer, namespace, kind, pluginData }) => {
          if (
            pluginData === ZOD_RECORDS_SEEN ||
            namespace === 'zod-records' ||
            namespace === 'toolable-start'
          )
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
        contents: renderZodModule(await listZodExports(path, entry)),
        resolveDir: dirname(entry),
      }))
    },
  }
}

const ZOD_RECORDS_SEEN = { seen: 'toolable-zod' }

async function listZodExports(path: string, entry: string): Promise<readonly string[]> {
  const zod = await import(pathToFileURL(createRequire(entry).resolve(path)).href)
  return Object.keys(zod).filter(
    (name) => /^[A-Za-z_$][\w$]*$/.test(name) && !['z', 'default', 'module.exports'].includes(name),
  )
}

function renderZodModule(names: readonly string[]): string {
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
