import { builtinModules, createRequire } from 'node:module'
import type { Plugin } from 'esbuild'

const NAMES = new Set(builtinModules)
const require = createRequire(import.meta.url)

/**
 * Modules of node are asked for by `process.getBuiltinModule`: a script has no `import`, and what is not used of a module is not read.
 * Packages that stay outside are asked for by `require`.
 */
export function outsideModules(external: readonly string[]): Plugin {
  return {
    name: 'toolable-outside',
    setup(build) {
      build.onResolve({ filter: /^(node:)?[a-z0-9_]/ }, ({ path, kind }) => {
        const name = path.replace(/^node:/, '')
        if (!path.startsWith('node:') && !NAMES.has(name)) return undefined
        return { path: path.startsWith('node:') ? path : `node:${name}`, namespace: kind === 'import-statement' ? 'node-named' : 'node-whole', sideEffects: false }
      })
      build.onResolve({ filter: /^[^./]/ }, ({ path, kind, namespace }) => {
        if (namespace === 'outside' || !external.some((name) => path === name || path.startsWith(`${name}/`))) return undefined
        return kind === 'dynamic-import' ? { path, external: true } : { path, namespace: 'outside' }
      })
      build.onLoad({ filter: /.*/, namespace: 'node-named' }, ({ path }) => ({ contents: nameAll(path) }))
      build.onLoad({ filter: /.*/, namespace: 'node-whole' }, ({ path }) => ({ contents: `module.exports=process.getBuiltinModule(${JSON.stringify(path)})` }))
      build.onLoad({ filter: /.*/, namespace: 'outside' }, ({ path }) => ({ contents: `module.exports=__toolable_require(${JSON.stringify(path)})` }))
    },
  }
}

// Each name is a pure call of its own, so that the bundler leaves out what nobody imports.
function nameAll(path: string): string {
  const names = Object.keys(require(path) as object).filter((name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'default')
  return [
    `const m=/* @__PURE__ */(()=>process.getBuiltinModule(${JSON.stringify(path)}))()`,
    'export default m',
    ...names.map((name, index) => `const n${index}=/* @__PURE__ */(()=>m.${name})();export{n${index} as ${name}}`),
  ].join('\n')
}
