// Turns what V8 wrote in the test workers and in every child process into one c8 report over src/.
import { transformSync } from 'esbuild'
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Where V8 writes, one file for each process. */
export const rawFolder = resolve('coverage/raw')
const keptFolder = resolve('coverage/kept')
const wantedLines = 90

/**
 * Keeps what concerns src/ and dist/, and lets c8 report it and hold the wanted share; `runC8` gets
 * a name and the arguments and gives the exit status.
 */
export async function reportCoverage(runC8) {
  keepOwnScripts()
  const options = [
    'report',
    '--temp-directory',
    keptFolder,
    '--reports-dir',
    'coverage',
    '--all',
    '--src',
    'src',
    '--include',
    'src/**',
  ]
  const excluded = listFilesWithoutStatements().flatMap((file) => ['--exclude', file])
  const checks = [
    '--exclude-after-remap',
    '--check-coverage',
    '--lines',
    `${wantedLines}`,
    '--statements',
    '0',
    '--branches',
    '0',
    '--functions',
    '0',
  ]
  const status = await runC8('coverage', [
    ...options,
    ...excluded,
    ...checks,
    '--reporter',
    'text-summary',
    '--reporter',
    'html',
    '--reporter',
    'lcovonly',
  ])
  if (status !== 0)
    await runC8('uncovered lines', [
      ...options,
      ...excluded,
      '--exclude-after-remap',
      '--reporter',
      'text',
      '--skip-full',
    ])
  return status
}

function keepOwnScripts() {
  const own = ['dist/', 'src/'].map((folder) => pathToFileURL(resolve(folder)).href + '/')
  const isOwn = (url) => own.some((prefix) => url.startsWith(prefix))
  rmSync(keptFolder, { recursive: true, force: true })
  mkdirSync(keptFolder, { recursive: true })
  const maps = {}
  for (const name of readdirSync(rawFolder)) {
    const raw = readCoverage(join(rawFolder, name))
    const result = raw.result.filter(({ url }) => isOwn(url))
    if (result.length === 0) continue
    writeFileSync(join(keptFolder, name), JSON.stringify({ result }))
    for (const [url, cached] of Object.entries(raw['source-map-cache'] ?? {})) {
      // c8 compares the sources of a bundle with its patterns before it resolves them, so they are
      // made paths here.
      if (isOwn(url) && cached.data)
        maps[url] = {
          ...cached,
          data: {
            ...cached.data,
            sources: cached.data.sources.map((source) => fileURLToPath(new URL(source, url))),
          },
        }
    }
  }
  writeFileSync(
    join(keptFolder, 'source-maps.json'),
    JSON.stringify({ result: [], 'source-map-cache': maps }),
  )
  rmSync(rawFolder, { recursive: true, force: true })
}

function readCoverage(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    // Half a file: its process was killed while it wrote.
    return { result: [] }
  }
}

/**
 * Files that hold only types, or only pass names on: no statement of them can run or fail to run.
 */
function listFilesWithoutStatements() {
  return readdirSync('src', { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `src/${name.replaceAll('\\', '/')}`)
    .filter((file) => {
      const { code } = transformSync(readFileSync(file, 'utf8'), {
        loader: 'ts',
        minify: true,
        tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
      })
      return (
        code
          .replace(/(import|export)\s*(\*(\s*as \w+)?|\{[^}]*\})?\s*(from)?\s*("[^"]*")?;?/g, '')
          .trim() === ''
      )
    })
}
