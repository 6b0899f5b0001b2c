const FOLDERS = new Set(['registry', '_lib', 'venv', 'shared_venv', 'node_modules', '__pycache__'])
const FILES = new Set(['run.py', 'error_codes.yaml', 'error_codes.yml', '__init__.py'])

/** Folders beside tools that are never tools themselves. */
export function isReservedFolder(name: string): boolean {
  return name.startsWith('.') || FOLDERS.has(name)
}

/** Files beside tools that are never tools themselves. */
export function isReservedFile(name: string): boolean {
  return name.startsWith('.') || FILES.has(name)
}
