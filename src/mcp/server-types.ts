import type { CallOptions } from '../core/call.ts'
import type { ToolsetChange } from '../core/provider.ts'
import type { FailureOutcome } from '../protocol/outcome.ts'
import type { McpCallRegistry, McpTask } from './call-registry.ts'
import type { McpExchange, RpcParams, RpcResponse } from './protocol.ts'
import type { McpSource, ToolCatalogue } from './source.ts'

export type McpServerOptions = {
  /**
   * `always`: a destructive call needs an answer of the user, and fails with clients that cannot
   * ask. Default `auto`: there the host's own approval counts.
   */
  readonly confirm?: 'auto' | 'always'
  /** Items on one page of a list; default 500. */
  readonly pageSize?: number
  /** How every call is made: working folder, environment, time limit. */
  readonly call?: Pick<CallOptions, 'cwd' | 'env' | 'timeout' | 'caller'>
  /** Called with every failed call of a tool. */
  readonly onFailure?: (outcome: FailureOutcome) => void
}

/** A change that subscriptions are about. */
export type ServerChange = ToolsetChange | { readonly kind: 'task'; readonly task: McpTask }

/** One server over one source; transports bring it requests. */
export type McpServer = {
  readonly source: McpSource
  readonly options: Required<Pick<McpServerOptions, 'confirm' | 'pageSize'>> & McpServerOptions
  readonly calls: McpCallRegistry
  readonly catalogue: ToolCatalogue
  /** Files that tools created, readable by their address. */
  readonly artifacts: ArtifactRegistry
  onChange(listener: (change: ServerChange) => void): () => void
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal
  /** Answers a request; never rejects. */
  answer(method: string, params: RpcParams, exchange: McpExchange): Promise<RpcResponse>
  /** Ends subscriptions, and calls that no request waits for; the others may finish. */
  stop(): void
  /** Ends everything. */
  close(): void
}

const MAX_ARTIFACTS = 1000

/**
 * The files that tools named as their artifacts, the newest thousand: only these can be read by
 * their address.
 */
export class ArtifactRegistry {
  readonly #uris = new Set<string>()

  add(uri: string): void {
    if (!uri.startsWith('file:')) return
    this.#uris.delete(uri)
    this.#uris.add(uri)
    for (const oldest of this.#uris) {
      if (this.#uris.size <= MAX_ARTIFACTS) return
      this.#uris.delete(oldest)
    }
  }

  has(uri: string): boolean {
    return this.#uris.has(uri)
  }
}
