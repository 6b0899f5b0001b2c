import { builtinModules } from 'node:module'
import type { Plugin } from 'esbuild'

const NAMES = new Set(builtinModules)

/** Modules of node and packages that stay outside are asked for by functions, because a script has no `import`. Their names are looked up at each use, as node keeps them: somebody may replace one. */
export function outsideModules(external: readonly string[]): Plugin {
  return {
    name: 'toolable-outside',
    setup(build) {
      build.onResolve({ filter: /^(node:)?[a-z0-9_]/ }, ({ path }) => {
        const name = path.replace(/^node:/, '')
        return path.startsWith('node:') || NAMES.has(name)
          ? { path: `node:${name}`, namespace: 'node', sideEffects: false }
          : undefined
      })
      build.onResolve({ filter: /^[^./]/ }, ({ path, namespace }) => {
        const isOutside =
          namespace !== OUTSIDE &&
          external.some((name) => path === name || path.startsWith(`${name}/`))
        return isOutside ? { path, namespace: OUTSIDE } : undefined
      })
      build.onLoad({ filter: /.*/, namespace: 'node' }, ({ path }) => ({
        contents: `module.exports=process.getBuiltinModule(${JSON.stringify(path)})`,
      }))
      build.onLoad({ filter: /.*/, namespace: OUTSIDE }, ({ path }) => ({
        contents: requireOutside(path),
      }))
    },
  }
}

// Missing itself, not something that it needs.
function requireOutside(path: string): string {
  const name = /^(?:@[^/]+\/)?[^/]+/.exec(path)![0]
  const words = `Cannot find package '${name}', which stays outside of this program; install it beside the program: npm install ${name}`
  return `try{module.exports=__toolable_require(${JSON.stringify(path)})}catch(e){throw e.code==='MODULE_NOT_FOUND'&&e.requireStack?.length===1?Object.assign(new Error(${JSON.stringify(words)}),{code:e.code,outside:true}):e}`
}

/** The namespace of packages that are looked for when the program runs. */
export const OUTSIDE = 'toolable-outside'
