import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { ToolError } from '../contract/tool-error.ts'
import { bundle } from './bundle/bundle.ts'
import type { Bundle } from './bundle/bundle.ts'
import { inFileManifest } from './in-file-manifest.ts'
import { markCode } from './launch/mark-code.ts'
import { programText } from './launch/program-text.ts'
import { moveMap, wrapBundle } from './launch/wrap.ts'
import type { Look } from './look/answer.ts'
import { compileAhead, lookAt } from './look/look.ts'
import type { Surroundings } from './look/look.ts'
import { nameOf, nearestPackage } from './names.ts'
import { ownFolder } from './own-files.ts'
import { clearFolder, putFiles } from './write/put-files.ts'

export type BuildOptions = {
  readonly entry: string
  readonly out?: string
  readonly name?: string
  readonly external?: readonly string[]
  readonly portable?: boolean
  readonly sourceMap?: boolean
}

/** What was built. */
export type Built = {
  readonly program: string
  readonly name: string
  readonly version: string
  readonly tools: number
  /** All files, the program first. */
  readonly files: readonly string[]
  readonly warnings: readonly string[]
}

/** Builds a program: bundles it, asks it what can be known about it, and writes file, bundle and compiled code. Throws CONFIG, DEPENDENCY, PERMISSION, DISK_FULL or INVALID_PATH. */
export async function buildProgram(options: BuildOptions, around: Surroundings): Promise<Built> {
  const entry = resolve(around.cwd, options.entry)
  if (!statSync(entry, { throwIfNoEntry: false })?.isFile()) throw new ToolError('INVALID_PATH', `there is no file ${options.entry}`, { field: 'entry' })
  const out = resolve(around.cwd, options.out ?? 'dist')
  const workshop = mkdtempSync(join(tmpdir(), 'toolable-build-'))
  try {
    const own = ownFolder()
    const made = await makeBundle(options, entry, own, join(workshop, 'first.bundle'), around)
    const { look } = made
    const warnings = look.answers.length === 0 ? ['what it prints about itself depends on where it runs, so that node answers --help and its kin too'] : []
    const name = options.name ?? look.name
    const program = join(out, `${name}${nearestPackage(out).type === 'module' ? '.cjs' : ''}`)
    const wrapped = wrapBundle(made.code, writeTable(look))
    const id = createHash('sha256').update(wrapped).digest('hex').slice(0, 16)
    const source = made.map === undefined ? wrapped : `${wrapped}\n//# sourceMappingURL=${id}.map\n`
    const final = join(workshop, `${id}.bundle`)
    writeFileSync(final, source, 'latin1')
    const compiled = await compileAhead(own, final, program, around)
    const folder = join(out, `${name}.files`)
    const files = [
      { path: join(folder, `${id}.bundle`), content: Buffer.from(source, 'latin1') },
      ...(compiled ? [{ path: join(folder, `${id}.cache`), content: markCode(compiled, id) }] : []),
      ...(made.map === undefined ? [] : [{ path: join(folder, `${id}.map`), content: moveMap(made.map) }]),
      ...(made.licences === undefined ? [] : [{ path: join(folder, `${id}.licences.txt`), content: made.licences }]),
      { path: join(out, `${name}.cmd`), content: `@node "%~dp0${basename(program)}" %*\r\n` },
      { path: program, content: programText({ name, version: look.version, manifest: inFileManifest(look), answers: look.answers, id, portable: options.portable === true }), executable: true as const },
    ]
    putFiles(files)
    clearFolder(folder, id)
    const shown = files.toReversed().map(({ path }) => relative(around.cwd, path) || basename(path))
    return { program: shown[0]!, name: look.name, version: look.version, tools: look.manifest.tools.length, files: shown, warnings }
  } finally {
    rmSync(workshop, { recursive: true, force: true })
  }
}

type Made = Pick<Bundle, 'code' | 'map' | 'licences'> & { readonly look: Look }

async function makeBundle({ external = [], sourceMap = false }: BuildOptions, entry: string, own: string, file: string, around: Surroundings): Promise<Made> {
  const { version, ...facts } = nearestPackage(dirname(entry))
  const names = { name: nameOf(entry, facts), ...(version !== undefined && { version }) }
  const start = `import*as entry from${JSON.stringify(entry)};import{startEntry}from'toolable/built';await startEntry(entry,${JSON.stringify(names)})`
  for (const records of [true, false]) {
    const { zod, ...made } = await bundle({ entry, start, external, records, ownFolder: own, sourceMap })
    if (records && zod.shared) continue
    writeFileSync(file, wrapBundle(made.code, ''), 'latin1')
    const look = await lookTwice(own, file, entry, around)
    if (!(zod.recorded && look.needsZod)) return { ...made, look }
  }
  throw new Error('unreachable')
}

// What a program says about itself is written down only where it says the same in another place.
async function lookTwice(own: string, file: string, entry: string, around: Surroundings): Promise<Look> {
  const { PATH } = around.env
  const elsewhere = { ...around, cwd: tmpdir(), env: { PATH, HOME: '/nonexistent', TZ: 'Pacific/Apia', LANG: 'C' } }
  const [here, there] = await Promise.allSettled([lookAt(own, file, entry, around), lookAt(own, file, entry, elsewhere)])
  if (here.status === 'rejected') throw here.reason
  const same = there.status === 'fulfilled' && JSON.stringify(there.value) === JSON.stringify(here.value)
  return same ? here.value : { ...here.value, answers: [], schemas: [] }
}

function writeTable({ schemas }: Look): string {
  return schemas.length === 0 ? '' : `\n${schemas.map(({ fingerprint, prepared }) => `${fingerprint}\t${JSON.stringify(prepared)}`).join('\n')}\n`
}
