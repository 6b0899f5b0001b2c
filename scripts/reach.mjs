// What each public name can load: `toolable build` leaves out of a program what nothing in it can
// reach. See docs/decisions/2026-11-17-what-a-built-program-carries.md.
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const ENTRIES = {
  toolable: 'src/index.ts',
  'toolable/built': 'src/bundler/built/index.ts',
  'toolable/testing': 'src/testing/index.ts',
}
const EXPORTS = /^export \{([^}]*)\} from '(\.[^']+)'/gm

/**
 * A plugin that writes down which module loads which, at once or later, and a function that makes
 * the table of it: for each public name the chunks that it may import later.
 */
export function recordReach() {
  const modules = new Map()
  return {
    plugin: {
      name: 'reach',
      buildEnd() {
        for (const id of this.getModuleIds()) {
          const { importedIds, dynamicallyImportedIds } = this.getModuleInfo(id)
          modules.set(id, {
            all: [...importedIds, ...dynamicallyImportedIds],
            late: dynamicallyImportedIds,
          })
        }
      },
    },
    table: (chunks) => makeTable(modules, chunks),
  }
}

function makeTable(modules, chunks) {
  const files = chunks.map(({ fileName }) => fileName)
  const places = new Map([
    ...chunks.flatMap(({ moduleIds }, index) => moduleIds.map((id) => [id, index])),
    ...chunks.flatMap(({ facadeModuleId }, index) =>
      facadeModuleId ? [[facadeModuleId, index]] : [],
    ),
  ])
  const lateFrom = (module) => {
    const [seen, late] = [new Set(), new Set()]
    const visit = (id) => {
      if (seen.has(id) || !modules.has(id)) return
      seen.add(id)
      modules
        .get(id)
        .late.filter((each) => places.has(each))
        .forEach((each) => late.add(places.get(each)))
      modules.get(id).all.forEach(visit)
    }
    visit(module)
    return [...late].sort((a, b) => a - b)
  }
  const names = Object.fromEntries(
    Object.entries(ENTRIES).map(([entry, file]) => [
      entry,
      Object.fromEntries(listExports(file).map(([name, module]) => [name, lateFrom(module)])),
    ]),
  )
  return { files, names }
}

// The lists of public names are written out, one module after the other.
function listExports(file) {
  const found = [...readFileSync(file, 'utf8').matchAll(EXPORTS)].flatMap(([, names, module]) =>
    names.split(',').map((name) => [
      name
        .trim()
        .split(/\s+as\s+/)
        .at(-1),
      resolve(dirname(file), module),
    ]),
  )
  if (found.length === 0) throw new Error(`${file} exports nothing that can be read`)
  return found.filter(([name]) => name !== '')
}
