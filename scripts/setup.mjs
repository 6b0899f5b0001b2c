// `node scripts/setup.mjs start|test|slow`: brings a fresh clone to the point where it runs; costs
// nothing when there is nothing to do.
// No dependencies: it runs before there are any.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureSystemPackages } from './system-packages.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const programsOfOthers = [
  'test/mcp/clients',
  'test/registry/servers',
  'test/workflow/restate/packages',
  'test/functions/packages',
].map((folder) => join(root, folder))
const nodeVersions = join(root, 'test/node-versions')
// Inside node_modules, so that a new installation also means a new build.
const buildStamp = join(root, 'node_modules/.cache/toolable/build')

try {
  ensureNodeVersion()
  const isTest = process.argv[2] !== 'start'
  if (isTest) ensureSystemPackages()
  ensureNpmPackages(root)
  // Programs of others that only the tests need have lock files of their own.
  if (isTest) programsOfOthers.forEach(ensureNpmPackages)
  if (process.argv[2] === 'slow') ensureNpmPackages(nodeVersions)
  ensureBuild()
} catch (error) {
  console.error(`setup: ${error.message}`)
  process.exit(1)
}

function ensureNodeVersion() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19))
    throw new Error(`Node 20.19 or newer is needed; this is ${process.versions.node}.`)
}

function ensureNpmPackages(folder) {
  const lock = join(folder, 'package-lock.json')
  const stamp = join(folder, 'node_modules/.cache/toolable/lock')
  const hash = hashFiles([lock])
  if (readStamp(stamp) === hash) return
  const installed = join(folder, 'node_modules/.package-lock.json')
  if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(lock).mtimeMs) {
    // No package of ours needs its install script; esbuild finds its program in the optional
    // package of the platform.
    run(
      'npm',
      ['ci', '--ignore-scripts', '--no-audit', '--no-fund'],
      'npm ci failed; is the npm registry reachable?',
      folder,
    )
  }
  writeStamp(stamp, hash)
}

function ensureBuild() {
  const hash = hashFiles([
    ...listFiles(join(root, 'src')),
    ...listFiles(join(root, 'dashboard')),
    ...['scripts/build.mjs', 'tsconfig.json', 'tsconfig.build.json', 'package.json'].map((file) =>
      join(root, file),
    ),
  ])
  if (
    readStamp(buildStamp) === hash &&
    existsSync(join(root, 'dist/index.js')) &&
    existsSync(join(root, 'dist/types/index.d.ts'))
  )
    return
  run(process.execPath, ['scripts/build.mjs'], 'the build failed.')
  writeStamp(buildStamp, hash)
}

function run(command, argv, failure, folder = root) {
  console.error(
    `setup: ${command === process.execPath ? 'node' : command} ${argv.join(' ')}${folder === root ? '' : ` in ${relative(root, folder)}`}`,
  )
  const { status } = spawnSync(command, argv, {
    cwd: folder,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32' && command === 'npm',
  })
  if (status !== 0) throw new Error(failure)
}

function listFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort()
}

function hashFiles(files) {
  const hash = createHash('sha256')
  for (const file of files)
    hash
      .update(`${file.slice(root.length)}\0`)
      .update(readFileSync(file))
      .update('\0')
  return hash.digest('hex')
}

function readStamp(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

function writeStamp(file, text) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
