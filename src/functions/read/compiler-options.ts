import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type ts from 'typescript'
import { ToolError } from '../../contract/tool-error.ts'
import type { Compiler } from './types/work.ts'

/** What a project says about its types, and by which files; those that are not there would say something else. */
export type ProjectOptions = {
  readonly options: ts.CompilerOptions
  readonly files: readonly string[]
}

// What stands in the way of reading: syntax, a value of the wrong type, and what is extended and not there, or extends itself. Options that this compiler does not know are for another one.
const isBroken = ({ code }: ts.Diagnostic): boolean =>
  code < 2000 || [5024, 5083, 6053, 18000].includes(code)

/** The options that hold for a file: of the nearest tsconfig.json with all that it extends, or of the project that it names for this file. Throws CONFIG, with file and line, for one that cannot be read. */
export function projectOptions(ts: Compiler, file: string): ProjectOptions {
  const config = ts.findConfigFile(dirname(file), ts.sys.fileExists)
  const absent = foldersUpTo(dirname(file), config && dirname(config)).map((folder) =>
    join(folder, 'tsconfig.json'),
  )
  if (config === undefined)
    return {
      options: {
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.NodeNext,
        moduleResolution: ts.ModuleResolutionKind.NodeNext,
        lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
      },
      files: absent,
    }
  const own = readConfig(ts, config)
  const files = [...absent, ...own.files]
  for (const reference of own.isEmpty ? own.references : []) {
    const project = readConfig(ts, reference)
    files.push(...project.files)
    if (project.covers(file)) return { options: project.options, files }
  }
  return { options: own.options, files }
}

type ReadConfig = ProjectOptions & {
  /** It has no files of its own. */ readonly isEmpty: boolean
  readonly references: readonly string[]
  covers(file: string): boolean
}

function readConfig(ts: Compiler, config: string): ReadConfig {
  const source = ts.readJsonConfigFile(config, ts.sys.readFile)
  const folder = dirname(config)
  // Only what the module reaches is read: the folders of the project are left alone until somebody asks.
  const parsed = ts.parseJsonSourceFileConfigFileContent(
    source,
    { ...ts.sys, readDirectory: () => [] },
    folder,
    undefined,
    config,
  )
  const broken = [
    ...(source as unknown as { readonly parseDiagnostics: readonly ts.Diagnostic[] })
      .parseDiagnostics,
    ...parsed.errors,
  ].find(isBroken)
  if (broken) refuse(ts, source, broken)
  const raw = parsed.raw as
    { readonly files?: readonly unknown[]; readonly include?: readonly unknown[] } | undefined
  return {
    options: parsed.options,
    files: [
      config,
      ...((source as { readonly extendedSourceFiles?: readonly string[] }).extendedSourceFiles ??
        []),
    ],
    isEmpty: raw?.files?.length === 0 && raw.include === undefined,
    references: (parsed.projectReferences ?? [])
      .map(({ path }) => ts.resolveProjectReferencePath({ path }))
      .filter((path) => existsSync(path)),
    covers: (file) =>
      ts
        .parseJsonSourceFileConfigFileContent(
          ts.readJsonConfigFile(config, ts.sys.readFile),
          ts.sys,
          folder,
          undefined,
          config,
        )
        .fileNames.some((name) => resolve(name) === resolve(file)),
  }
}

function refuse(
  ts: Compiler,
  source: ts.SourceFile,
  { file = source, start, messageText }: ts.Diagnostic,
): never {
  // What is extended and cannot be read is not told with a place.
  const at = start ?? Math.max(0, source.text.indexOf('"extends"'))
  const place = `${resolve(file.fileName)}:${file.getLineAndCharacterOfPosition(at).line + 1}`
  throw new ToolError('CONFIG', `${place}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`, {
    suggestion: `Correct ${place}`,
    details: { source: place },
  })
}

function foldersUpTo(folder: string, end: string | undefined): readonly string[] {
  if (folder === end) return []
  return dirname(folder) === folder ? [folder] : [folder, ...foldersUpTo(dirname(folder), end)]
}
