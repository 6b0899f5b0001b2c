/** The revision in which each request carries its own metadata. */
export const MODERN_VERSION = '2026-07-28'

/** Revisions that begin with `initialize`, newest first. */
export const LEGACY_VERSIONS: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
]

/** What is told to a client that asks for something else. */
export const SUPPORTED_VERSIONS: readonly string[] = [MODERN_VERSION, ...LEGACY_VERSIONS]

/** Keys of `_meta` that the specification reserves. */
export const META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  client: 'io.modelcontextprotocol/clientInfo',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  server: 'io.modelcontextprotocol/serverInfo',
  subscription: 'io.modelcontextprotocol/subscriptionId',
} as const

/** Keys of `_meta` that are ours: the outcome without its result, and options of a call. */
export const OWN_META = {
  outcome: 'dev.toolable/outcome',
  options: 'dev.toolable/options',
} as const

/** The id of the tasks extension. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'
