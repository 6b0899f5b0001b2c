/**
 * `toolable build`: turns an entry file into a program that starts almost as fast as node itself.
 *
 * The steps, each in its own file: packages.ts finds esbuild and this package's built files;
 * bundle.ts bundles the entry with esbuild-plugins.ts; chunks.ts joins the chunks into one script;
 * inspect.ts asks the program what can be known about it, in a child process (inspect-process.ts,
 * inspect-program.ts); program-file.ts and launchers.ts write the file that a shell or node starts,
 * or one executable with node in it; output-files.ts writes the result. built/ is what a built
 * program contains besides its own modules.
 */

import type * as Esbuild from 'esbuild'
import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import type { ResultRenderer } from '../cli/formats/envelope.ts'
import { cleanLine, createTextPainter } from '../cli/formats/terminal-text.ts'
import { createNoToolsError, openModule } from '../functions/open-module.ts'
import type { ToolManifest } from '../protocol/manifest.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { pluralize } from '../util/text.ts'
import { compact } from '../util/values.ts'
import { NO_TOOLS_MESSAGE } from './built/start-entry.ts'
import type { ProgramBundle } from './bundle.ts'
import { bundleProgram } from './bundle.ts'
import type { AssembleScript, ProgramScript } from './chunks.ts'
import { prepareChunks, ZOD_CHUNK } from './chunks.ts'
import type { BuildEnvironment, InspectedProgram, ProgramInspection } from './inspect.ts'
import { compileCodeCache, inspectInChild, traceLoadedChunks } from './inspect.ts'
import { addChecksum, removeOldFiles, writeBuiltFiles } from './output-files.ts'
import { findOwnFolder, loadEsbuild, readNearestPackage, toProgramName } from './packages.ts'
import {
  createExecutableParts,
  prepareExecutable,
  renderProgram,
  renderSlowLauncher,
} from './program-file.ts'

export type BuildOptions = {
  readonly entry: string
  readonly out?: string
  readonly name?: string
  readonly external?: readonly string[]
  readonly portable?: boolean
  /** One executable with node in it. */
  readonly single?: boolean
}

const DEPENDS_ON_PLACE_WARNING =
  'what it prints about itself depends on where it runs, so that node answers --help and its kin too'

/** What was built. */
type BuildResult = {
  readonly program: string
  readonly name: string
  readonly version: string
  readonly tools: number
  /** All files, the program first. */
  readonly files: readonly string[]
  readonly warnings: readonly string[]
}

/**
 * Builds a program: bundles it, asks it what can be known about it, and writes file, bundle and
 * compiled code. Throws CONFIG, DEPENDENCY, PERMISSION, DISK_FULL or INVALID_PATH.
 */
export async function buildProgram(
  options: BuildOptions,
  around: BuildEnvironment,
): Promise<BuildResult> {
  const entry = resolve(around.cwd, options.entry)
  if (!statSync(entry, { throwIfNoEntry: false })?.isFile())
    throw new ToolError('INVALID_PATH', `there is no file ${options.entry}`, { field: 'entry' })
  const out = resolve(around.cwd, options.out ?? 'dist')
  const own = findOwnFolder()
  const single = options.single === true ? prepareExecutable(entry, around) : undefined
  const made = await prepareBundle(await loadEsbuild(entry), options, entry, own, around)
  const { look } = made
  const warnings = look.answers.length === 0 ? [DEPENDS_ON_PLACE_WARNING] : []
  const name = options.name ?? look.name
  const extension = !single && readNearestPackage(out).type === 'module' ? '.cjs' : ''
  const program = join(out, `${name}${extension}`)
  const folder = join(out, `${name}.files`)
  const portable = options.portable === true || single !== undefined
  // V8 keeps the path in compiled code, and a published package should not contain our folders.
  const { id, text, length, code } = await compileProgram(
    made,
    program,
    portable ? `/${basename(folder)}` : folder,
    own,
    around,
  )
  const slow = renderSlowLauncher(portable)
  const sealed = code && addChecksum(code, id)
  const file = renderProgram({
    name,
    version: look.version,
    manifest: createInFileManifest(look),
    answers: look.answers,
    bundle: {
      id,
      length,
      slowly: [text.length, text.length + slow.length],
      code: { size: sealed?.content.length ?? 0, seal: sealed?.seal ?? '' },
    },
    portable,
  })
  const licencesFile = single ? `${program}.licences.txt` : join(folder, `${id}.licences.txt`)
  const licences =
    made.licences === undefined ? [] : [{ path: licencesFile, content: made.licences }]
  const files = single
    ? [
        ...licences,
        {
          path: program,
          content: await single(createExecutableParts(file, text, length, code)),
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
  writeBuiltFiles(files)
  if (!single) removeOldFiles(folder, id)
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

type PreparedBundle = Pick<ProgramBundle, 'chunks' | 'licences'> & {
  readonly look: ProgramInspection
  readonly assemble: AssembleScript
}

async function prepareBundle(
  esbuild: typeof Esbuild,
  { external = [] }: BuildOptions,
  entry: string,
  own: string,
  around: BuildEnvironment,
): Promise<PreparedBundle> {
  const attempt = async (start: string, records: boolean): Promise<PreparedBundle | undefined> => {
    const options = { entry, start, external, records, ownFolder: own }
    const { recorded, shared, chunks, licences } = await bundleProgram(esbuild, options)
    if (shared) return undefined
    const assemble = await prepareChunks(esbuild, chunks)
    const script = await assemble([], '')
    const subject = { program: entry, bundle: `${entry}.bundle`, script }
    const look = await inspectTwice(own, subject, around)
    return recorded && look.needsZod ? undefined : { chunks, licences, look, assemble }
  }
  const make = async (start: string): Promise<PreparedBundle> =>
    (await attempt(start, true)) ?? (await attempt(start, false))!
  try {
    return await make(renderEntryStart(entry))
  } catch (error) {
    if (!ToolError.is(error) || !error.message.endsWith(NO_TOOLS_MESSAGE)) throw error
    return make(await renderFunctionsStart(entry, around))
  }
}

// One call shows which chunks are hot, another one compiles them.
async function compileProgram(
  { assemble, chunks, look }: PreparedBundle,
  program: string,
  folder: string,
  own: string,
  around: BuildEnvironment,
): Promise<ProgramScript & { readonly id: string; readonly code: Buffer | undefined }> {
  const table = renderSchemaTable(look)
  const traced = { program, bundle: folder, script: await assemble([], table) }
  const asked = await traceLoadedChunks(own, traced, around)
  const callers = Object.keys(chunks).filter((name) => name.startsWith('./call-function-'))
  const hot = [...asked, ...callers].filter((name) => name !== ZOD_CHUNK)
  const script = await assemble(hot, table)
  const id = createHash('sha256').update(script.text).digest('hex').slice(0, 16)
  const bundle = join(folder, `${id}.bundle`)
  return { ...script, id, code: await compileCodeCache(own, { program, bundle, script }, around) }
}

// Answers are only recorded when they are the same in another environment.
async function inspectTwice(
  own: string,
  subject: InspectedProgram,
  around: BuildEnvironment,
): Promise<ProgramInspection> {
  const { PATH } = around.env
  const elsewhere = {
    ...around,
    cwd: tmpdir(),
    env: { PATH, HOME: '/nonexistent', TZ: 'Pacific/Apia', LANG: 'C' },
  }
  const [here, there] = await Promise.allSettled([
    inspectInChild(own, subject, around),
    inspectInChild(own, subject, elsewhere),
  ])
  if (here.status === 'rejected') throw here.reason
  const same =
    there.status === 'fulfilled' && JSON.stringify(there.value) === JSON.stringify(here.value)
  return same ? here.value : { ...here.value, answers: [], schemas: [] }
}

function renderSchemaTable({ schemas }: ProgramInspection): string {
  return schemas.length === 0
    ? ''
    : `\n${schemas.map(({ fingerprint, prepared }) => `${fingerprint}\t${JSON.stringify(prepared)}`).join('\n')}\n`
}

/** The module that starts a program whose entry runs or exports its tools. */
function renderEntryStart(entry: string): string {
  const facts = readNearestPackage(dirname(entry))
  return `import*as entry from${JSON.stringify(entry)};import{startEntry}from'toolable/built';await startEntry(entry,${renderNames(toProgramName(entry, facts), facts.version)})`
}

/**
 * The module that starts a program of plain functions: it contains their types, and the first call
 * loads the entry. Throws CONFIG, with the reason for each export, when none can be a tool.
 */
async function renderFunctionsStart(
  entry: string,
  { cwd, env }: BuildEnvironment,
): Promise<string> {
  const opened = await openModule(entry, { cwd, env })
  const { functions, description, name, version } = opened.manifest
  if (functions.length === 0) throw createNoToolsError(opened)
  // The folders of this machine should not be published.
  const manifest = compact({
    description,
    functions: functions.map((each) => ({ ...each, file: basename(each.file) })),
  })
  return `import{startFunctions}from'toolable/built';await startFunctions(${JSON.stringify(manifest)},${renderNames(name, version)},()=>import(${JSON.stringify(entry)}))`
}

function renderNames(name: string, version: string | undefined): string {
  return JSON.stringify(compact({ name, version }))
}

/** The manifest in the file of a program, which a registry reads without running it. */
function createInFileManifest({ name, version, manifest, serves }: ProgramInspection): object {
  return compact({
    name,
    version,
    call: 'toolable',
    serve: serves || undefined,
    tools: manifest.tools.map(describeTool),
  })
}

function describeTool({
  name,
  title,
  summary,
  description,
  tags,
  timeout,
  permissions,
  annotations,
  dryRun,
  inputSchema,
  outputSchema,
  examples,
  errors,
  streaming,
  session,
}: ToolManifest): object {
  return compact({
    name,
    summary,
    title,
    description,
    tags: tags.length > 0 ? tags : undefined,
    timeout,
    permissions,
    annotations: Object.keys(annotations).length > 0 ? annotations : undefined,
    dryRun: dryRun || undefined,
    streaming: streaming || undefined,
    session: session || undefined,
    examples: examples.length > 0 ? examples : undefined,
    errors: Object.keys(errors).length > 0 ? errors : undefined,
    input: inputSchema,
    output: outputSchema,
  })
}

/** Shows the files of a built program and its warnings. */
export const renderBuild: ResultRenderer = (result, { color }) => {
  const paint = createTextPainter(color)
  const { name, version, tools, files, warnings } = result as BuildResult
  return [
    `${paint('bold', cleanLine(name))} ${cleanLine(version)}, ${pluralize(tools, 'tool')}`,
    ...files.map((file) => `${paint('green', 'written')}  ${cleanLine(file)}`),
    ...warnings.map((warning) => `${paint('yellow', 'warning')}  ${warning}`),
    '',
  ].join('\n')
}
