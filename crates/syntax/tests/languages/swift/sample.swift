import Foundation
@testable import Networking

/// How long a download may take.
let defaultTimeout: TimeInterval = 30
private var activeDownloads = 0, failedDownloads = 0

typealias Completion = (Result<Data, DownloadError>) -> Void

/// What can go wrong.
public enum DownloadError: Error, Equatable {
    case offline
    /// The server said no.
    case refused(status: Int, reason: String)
    case timedOut, cancelled

    var isTransient: Bool {
        switch self {
        case .offline, .timedOut: return true
        default: return false
        }
    }
}

protocol Downloader: AnyObject {
    associatedtype Request
    var queueLength: Int { get }
    /// Starts a request.
    func start(_ request: Request, then completion: @escaping Completion) -> Bool
    init(limit: Int)
}

/**
 Downloads files one after another.
 */
@MainActor
public final class SerialDownloader<Cache: Storage>: BaseDownloader, Downloader where Cache.Key == URL {
    public static let shared = SerialDownloader<DiskCache>(limit: 1)

    @Published private(set) var queue: [URLRequest] = []

    weak var delegate: DownloaderDelegate?

    var queueLength: Int {
        get { queue.count }
        set { queue.removeLast(queue.count - newValue) }
    }

    lazy var session: URLSession = {
        let configuration = URLSessionConfiguration.default
        return URLSession(configuration: configuration)
    }()

    required public init(limit: Int) {
        super.init()
        self.limit = limit
    }

    deinit {
        session.invalidateAndCancel()
    }

    // Puts the request at the end of the queue.
    @discardableResult
    public func start(_ request: URLRequest, then completion: @escaping Completion) -> Bool {
        guard let host = request.url?.host else { return false }
        queue.append(request)
        log("queued \(host)")
        return Reachability.check(host) { reachable in completion(reachable) }
    }

    func fetch<T: Decodable>(_ type: T.Type, from url: URL, retries: Int = 3) async throws -> T {
        let (data, _) = try await session.data(from: url)
        return try JSONDecoder().decode(type, from: data)
    }

    subscript(index: Int) -> URLRequest? {
        queue.indices.contains(index) ? queue[index] : nil
    }

    struct Progress {
        var received: Int
        let expected: Int
    }
}

extension SerialDownloader: CustomStringConvertible {
    public var description: String { "SerialDownloader(\(queue.count))" }

    static func == (lhs: SerialDownloader, rhs: SerialDownloader) -> Bool {
        lhs === rhs
    }
}

extension Array where Element == URLRequest {
    mutating func prune() { removeAll { $0.isStale } }
}

actor DownloadLog {
    private var lines: [String] = []

    func append(_ line: String) { lines.append(line) }
}

infix operator <~>: AdditionPrecedence

@attached(member)
macro Logged(level: Int) = #externalMacro(module: "LogMacros", type: "LoggedMacro")

func makeDownloader() -> some Downloader {
    SerialDownloader<DiskCache>(limit: 4)
}

let (lowest, highest) = bounds()
