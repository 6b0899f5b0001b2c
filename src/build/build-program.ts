import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'
import { NO_TOOLS } from '../built/start-entry.ts'
import { ToolError } from '../contract/tool-error.ts'
import type * as Esbuild from 'esbuild'
import { prepareChunks } from './bundle/assemble.ts'
import type { Assemble } from './bundle/assemble.ts'
import { bundle } from './bundle/bundle.ts'
import type { Bundle } from './bundle/bundle.ts'
import { ZOD } from './bundle/chunk-names.ts'
import { loadEsbuild } from './bundle/load-esbuild.ts'
import { inFileManifest } from './in-file-manifest.ts'
import { programText, slowText } from './launch/program-text.ts'
import { sealCode } from './launch/seal-code.ts'
import type { Script } from './launch/wrap.ts'
import type { Look, Subject } from './look/answer.ts'
import { compileAhead, lookAt, traceCall } from './look/look.ts'
import type { Surroundings } from './look/look.ts'
import { nearestPackage } from './names.ts'
import { ownFolder } from './own-files.ts'
import { prepareExecutable } from './single/make-executable.ts'
import { singleParts } from './single/parts.ts'
import { startOfEntry, startOfFunctions } from './start-text.ts'
import { clearFolder, putFiles } from './write/put-files.ts'

export type BuildOptions = {
  readonly entry: string
  readonly out?: string
  readonly name?: string
  readonly external?: readonly string[]
  readonly portable?: boolean
  /** One executable with node in it. */
  readonly single?: boolean
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
  if (!statSync(entry, { throwIfNoEntry: false })?.isFile())
    throw new ToolError('INVALID_PATH', `there is no file ${options.entry}`, { field: 'entry' })
  const out = resolve(around.cwd, options.out ?? 'dist')
  const own = ownFolder()
  const single = options.single === true ? prepareExecutable(entry, around) : undefined
  const made = await makeBundle(await loadEsbuild(entry), options, entry, own, around)
  const { look } = made
  const warnings =
    look.answers.length === 0
      ? [
          'what it prints about itself depends on where it runs, so that node answers --help and its kin too',
        ]
      : []
  const name = options.name ?? look.name
  const program = join(
    out,
    `${name}${!single && nearestPackage(out).type === 'module' ? '.cjs' : ''}`,
  )
  const folder = join(out, `${name}.files`)
  const portable = options.portable === true || single !== undefined
  // V8 keeps the path in what it compiles. A package is installed somewhere else, where nobody knows the folders of this machine.
  const { id, text, length, code } = await compile(
    made,
    program,
    portable ? `/${basename(folder)}` : folder,
    own,
    around,
  )
  const slow = slowText(portable)
  const sealed = code && sealCode(code, id)
  const facts = {
    id,
    length,
    slowly: [text.length, text.length + slow.length],
    code: { size: sealed?.content.length ?? 0, seal: sealed?.seal ?? '' },
  } as const
  const file = programText({
    name,
    version: look.version,
    manifest: inFileManifest(look),
    answers: look.answers,
    bundle: facts,
    portable,
  })
  const licences =
    made.licences === undefined
      ? []
      : [
          {
            path: single ? `${program}.licences.txt` : join(folder, `${id}.licences.txt`),
            content: made.licences,
          },
        ]
  const files = single
    ? [
        ...licences,
        {
          path: program,
          content: await single(singleParts({ answers: file, bundle: text, length, code })),
          executable: true as const,
        },
      ]
    : [
        { path: join(folder, `${id}.bundle`), content: Buffer.from(text + slow, 'latin1') },
        ...(sealed ? [{ path: join(folder, `${id}.cache`), content: sealed.content }] : []),
        ...licences,
        { path: join(out, `${name}.cmd`), content: `@node "%~dp0${basename(program)}" %*\r\n` },
        { path: program, content: file, executable: true as const },
      ]
  putFiles(files)
  if (!single) clearFolder(folder, id)
  const shown = files.toReversed().map(({ path }) => relative(around.cwd, path) || basename(path))
  return {
    program: shown[0]!,
    name: look.name,
    version: look.version,
    tools: look.manifest.tools.length,
    files: shown,
    warnings,
  }
}

type Made = Pick<Bundle, 'chunks' | 'licences'> & {
  readonly look: Look
  readonly assemble: Assemble
}

async function makeBundle(
  esbuild: typeof Esbuild,
  { external = [] }: BuildOptions,
  entry: string,
  own: string,
  around: Surroundings,
): Promise<Made> {
  const attempt = async (start: string, records: boolean): Promise<Made | undefined> => {
    const { recorded, shared, chunks, licences } = await bundle(esbuild, {
      entry,
      start,
      external,
      records,
      ownFolder: own,
    })
    if (shared) return undefined
    const assemble = await prepareChunks(esbuild, chunks)
    const look = await lookTwice(
      own,
      { program: entry, bundle: `${entry}.bundle`, script: await assemble([], '') },
      around,
    )
    return recorded && look.needsZod ? undefined : { chunks, licences, look, assemble }
  }
  const make = async (start: string): Promise<Made> =>
    (await attempt(start, true)) ?? (await attempt(start, false))!
  try {
    return await make(startOfEntry(entry))
  } catch (error) {
    if (!ToolError.is(error) || !error.message.endsWith(NO_TOOLS)) throw error
    return make(await startOfFunctions(entry, around))
  }
}

// Cut by what a call needs, which is found out by one, and compiled after another.
async function compile(
  { assemble, chunks, look }: Made,
  program: string,
  folder: string,
  own: string,
  around: Surroundings,
): Promise<Script & { readonly id: string; readonly code: Buffer | undefined }> {
  const table = writeTable(look)
  const asked = await traceCall(
    own,
    { program, bundle: folder, script: await assemble([], table) },
    around,
  )
  const script = await assemble(
    [...asked, ...Object.keys(chunks).filter((name) => name.startsWith('./call-function-'))].filter(
      (name) => name !== ZOD,
    ),
    table,
  )
  const id = createHash('sha256').update(script.text).digest('hex').slice(0, 16)
  return {
    ...script,
    id,
    code: await compileAhead(
      own,
      { program, bundle: join(folder, `${id}.bundle`), script },
      around,
    ),
  }
}

// What a program says about itself is written down only where it says the same in another place.
async function lookTwice(own: string, subject: Subject, around: Surroundings): Promise<Look> {
  const { PATH } = around.env
  const elsewhere = {
    ...around,
    cwd: tmpdir(),
    env: { PATH, HOME: '/nonexistent', TZ: 'Pacific/Apia', LANG: 'C' },
  }
  const [here, there] = await Promise.allSettled([
    lookAt(own, subject, around),
    lookAt(own, subject, elsewhere),
  ])
  if (here.status === 'rejected') throw here.reason
  const same =
    there.status === 'fulfilled' && JSON.stringify(there.value) === JSON.stringify(here.value)
  return same ? here.value : { ...here.value, answers: [], schemas: [] }
}

function writeTable({ schemas }: Look): string {
  return schemas.length === 0
    ? ''
    : `\n${schemas.map(({ fingerprint, prepared }) => `${fingerprint}\t${JSON.stringify(prepared)}`).join('\n')}\n`
}
