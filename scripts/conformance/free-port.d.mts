export declare function freePort(): Promise<number>
export declare function untilListening(port: number, gone: Promise<unknown>): Promise<void>
