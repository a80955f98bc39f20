//! Traditional Chinese characters and the simplified ones of the glossary.

/// Traditional characters, sorted.
const TRADITIONAL: &str = "並佇併來係俠倉個們側偵備傳債傷傾僅僑價儀億儘優儲內兩冊凍別刪則剛創劃劇劑動務勝勞勢勵匯區協卻厲參叢員問啟喚單嗎嘆\
    嘗嚴國圍園圓圖團執堅報場塊墊壓壞壽夠夾奪奮娛嬰學實審寫寬將專尋對導層屬嶺師帳帶幀幣幫幹幾庫廠廢廣張強彈彙後徑從復\
    徵愛態慣憑憶應懸戰戲戶捲換損搶摺擁擇擊擋據擠擬擴攔攝數斂斷於昇時暫曆書會東條業構樓標樞樣樹機檔檢權歡歷歸殺毀氣決\
    沒況洩淨減測湊準溫滾滿漢漸潛濾瀏為無燈營爍爭狀獨獲現環產畢畫異當疊發監盤睜確碼禮稅種稱積穩窮競筆節範簡簽籃籤紀約\
    紅紐純紙級細終組結絕絡給統綁經綠綫維網緊緒線編緩緯練縫縮總績織繼續罰義習聲職聽腦臺與興舊華萬葉藍處虛號螢蟲術衛衝\
    裏補裝裡製複規視覺覽觀觸訂計訊討訓託記設許診註評詞詢試該詳誌認語誤說誰課調談請論諾謂講證識譯議護讀變讓豎豐負財貨\
    責費貼資賦質賬賴購贈贏趨跡蹤車軌軟軸較載輔輕輪輯輸轉辦農迴這連週進運過達違遙遞遠適遲選還邊鄉鄰醫釋鈔鈕銀銜銷錄錨\
    錯鍊鍵鎖鏈鏡鏢鑰長門閃閉開閒間閘閱閾關陣陰陳陸隊際隨隱隻雙雜離難雲電靜韌響頁頂項順須預領頭頻顆題額顏類顯飛飾館馬\
    驅驗體鬆鬥麗麼黃點齊齡龍";
/// The simplified form of each, in the same order.
const SIMPLIFIED: &str = "并伫并来系侠仓个们侧侦备传债伤倾仅侨价仪亿尽优储内两册冻别删则刚创划剧剂动务胜劳势励汇区协却厉参丛员问启唤单吗叹\
    尝严国围园圆图团执坚报场块垫压坏寿够夹夺奋娱婴学实审写宽将专寻对导层属岭师帐带帧币帮干几库厂废广张强弹汇后径从复\
    征爱态惯凭忆应悬战戏户卷换损抢折拥择击挡据挤拟扩拦摄数敛断于升时暂历书会东条业构楼标枢样树机档检权欢历归杀毁气决\
    没况泄净减测凑准温滚满汉渐潜滤浏为无灯营烁争状独获现环产毕画异当叠发监盘睁确码礼税种称积稳穷竞笔节范简签篮签纪约\
    红纽纯纸级细终组结绝络给统绑经绿线维网紧绪线编缓纬练缝缩总绩织继续罚义习声职听脑台与兴旧华万叶蓝处虚号萤虫术卫冲\
    里补装里制复规视觉览观触订计讯讨训托记设许诊注评词询试该详志认语误说谁课调谈请论诺谓讲证识译议护读变让竖丰负财货\
    责费贴资赋质账赖购赠赢趋迹踪车轨软轴较载辅轻轮辑输转办农回这连周进运过达违遥递远适迟选还边乡邻医释钞钮银衔销录锚\
    错链键锁链镜镖钥长门闪闭开闲间闸阅阈关阵阴陈陆队际随隐只双杂离难云电静韧响页顶项顺须预领头频颗题额颜类显飞饰馆马\
    驱验体松斗丽么黄点齐龄龙";
/// Length of each of these characters in bytes.
const BYTES_OF_A_CHARACTER: usize = 3;

/// A text in simplified characters, each at the same place.
pub(super) fn simplified(text: &str) -> String {
    text.chars().map(simplified_character).collect()
}

fn simplified_character(c: char) -> char {
    let (mut low, mut high) = (0, TRADITIONAL.len() / BYTES_OF_A_CHARACTER);
    while low < high {
        let middle = low + (high - low) / 2;
        let at = middle * BYTES_OF_A_CHARACTER;
        let own = TRADITIONAL[at..].chars().next();
        match own.cmp(&Some(c)) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => return SIMPLIFIED[at..].chars().next().unwrap_or(c),
        }
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_pair_up() {
        assert_eq!(TRADITIONAL.len(), SIMPLIFIED.len());
        assert!(TRADITIONAL.chars().chain(SIMPLIFIED.chars()).all(|c| c.len_utf8() == BYTES_OF_A_CHARACTER));
        assert!(TRADITIONAL.chars().is_sorted_by(|one, next| one < next));
        assert_eq!(simplified("資料庫連線池 abc"), "资料库连线池 abc");
        for (traditional, own) in TRADITIONAL.chars().zip(SIMPLIFIED.chars()) {
            assert_eq!(simplified_character(traditional), own);
        }
    }
}
