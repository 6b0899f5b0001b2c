/** The command by which a detached run is performed; nobody types it. */
export const SUPERVISE = '__supervise'
