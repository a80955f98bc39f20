#import <Foundation/Foundation.h>
#import "FeedStore.h"
@import UIKit;

@class FeedItem, FeedParser;

// Items kept in memory.
#define FEED_ITEMS_MAX 200
#define CLAMP(x, low, high) (MIN(MAX((x), (low)), (high)))

/// Called once the feed is read.
typedef void (^FeedHandler)(NSArray<FeedItem *> *items, NSError *error);

extern NSString *const FeedErrorDomain;
static NSString *const kCacheName = @"feeds";

/// What a store tells its delegate.
@protocol FeedStoreDelegate <NSObject, FeedObserver>
@required
/// A feed has new items.
- (void)store:(FeedStore *)store didUpdate:(NSInteger)count;
@optional
@property (nonatomic, copy) NSString *label;
@end

/**
 * Keeps feeds on disk.
 */
@interface FeedStore : NSObject <NSCoding, FeedSource> {
    int _loads;
}

/// Newest first.
@property (nonatomic, strong, nullable) NSArray<FeedItem *> *items;
@property (nonatomic, weak) id<FeedStoreDelegate> delegate;
@property (nonatomic, copy) void (^onChange)(NSUInteger count);

+ (instancetype)sharedStore;
/// Loads one feed.
- (void)loadURL:(NSURL *)url
        timeout:(NSTimeInterval)timeout
        handler:(FeedHandler)handler;
@end

@interface FeedStore (Export)
- (NSData *)exportAsJSON;
@end

@implementation FeedStore {
    NSMutableDictionary *_cache;
}

@synthesize items = _items;

+ (instancetype)sharedStore {
    static FeedStore *store = nil;
    static dispatch_once_t once;
    dispatch_once(&once, ^{
        store = [[self alloc] init];
    });
    return store;
}

#pragma mark - Loading

// Retries once.
- (void)loadURL:(NSURL *)url
        timeout:(NSTimeInterval)timeout
        handler:(FeedHandler)handler
{
    NSURLRequest *request = [NSURLRequest requestWithURL:url cachePolicy:0 timeoutInterval:timeout];
    int tries = CLAMP(_loads, 1, 2);
    for (FeedItem *item in self.items) {
        [item markStale];
    }
    [self send:request tries:tries handler:handler];
}

@end

@implementation FeedStore (Export)

- (NSData *)exportAsJSON {
    return encode_items(self.items);
}

@end

struct feed_header {
    int version;
};

typedef enum { FeedKindRSS, FeedKindAtom } FeedKind;

/* Packs the items. */
static NSData *encode_items(NSArray *items) {
    return [NSJSONSerialization dataWithJSONObject:items options:0 error:NULL];
}

typedef NS_ENUM(NSInteger, LedgerState) { LedgerStateOpen = -1, LedgerStateClosed };

typedef NS_OPTIONS(NSUInteger, LedgerFlags) {
  LedgerFlagNone = 0,
  LedgerFlagDirty = 1 << 0,
};

LEDGER_AVAILABLE(ios(10.0))
@interface LedgerExport : NSObject
@property (nonatomic) int pages LEDGER_AVAILABLE(ios(10), macosx(10.12));
@property (nonatomic, copy) NSString *title NS_SWIFT_NAME(heading);
- (instancetype)init NS_UNAVAILABLE;
- (void)write:(int)page to:(NSString *)path LEDGER_AVAILABLE(ios(10), macosx(10.12));
+ (void)clear LEDGER_DEPRECATED("use write", ios(10, 11)) NS_SWIFT_NAME(clear());
@end

@implementation LedgerExport
- (void)write:(int)page to:(NSString *)path LEDGER_AVAILABLE(ios(10)) {
  if (page) LEDGER_LOG(page);
}
@end

void ledger_close(int handle) LEDGER_AVAILABLE(ios(10));
